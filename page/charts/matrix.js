// matrix.js - kind "matrix": numbers in coloured cells.
//   rows, columns: names; values[row][column] (null: empty); text, the same
//   shape, is shown instead of the numbers where given.
// Blue above zero and orange below: the sign is also in the text.
import { blend, colour } from './theme.js';
import { axis, base, hover, nameRoom } from './frame.js';
import { number } from './format.js';

function cells(figure) {
  var made = [];
  figure.values.forEach(function (row, i) {
    row.forEach(function (value, j) {
      if (value !== null)
        made.push([j, i, value]);
    });
  });
  return made;
}

function shade(theme, value, most) {
  var share = most > 0 ? Math.sqrt(Math.abs(value) / most) : 0;
  return blend(theme.background, colour(theme, value < 0 ? 1 : 0),
               0.08 + 0.62 * share);
}

function textAt(figure, row, column) {
  return figure.text ? figure.text[row][column]
                     : number(figure.values[row][column]);
}

function cell(figure, theme, most) {
  return function (params, api) {
    var j = api.value(0), i = api.value(1);
    var middle = api.coord([j, i]), wide = api.size([1, 1]);
    return {
      type: 'rect',
      shape: { x: middle[0] - wide[0] / 2 + 1, y: middle[1] - wide[1] / 2 + 1,
               width: wide[0] - 2, height: wide[1] - 2 },
      style: { fill: shade(theme, api.value(2), most) },
      textContent: { style: { text: textAt(figure, i, j), fill: theme.text,
                              fontSize: 12, lineHeight: 15, align: 'center',
                              fontFamily: theme.font } },
      textConfig: { position: 'inside' },
    };
  };
}

export default function matrix(figure, theme, size) {
  var option = base(figure, theme), data = cells(figure);
  var most = Math.max.apply(null, data.map(function (d) {
    return Math.abs(d[2]);
  }));
  option.xAxis = axis({ scale: 'category', categories: figure.columns,
                        name: (figure.x || {}).name }, theme, false);
  option.yAxis = axis({ scale: 'category', categories: figure.rows,
                        inverse: true, name: (figure.y || {}).name },
                      theme, true);
  nameRoom(option, figure.rows);
  option.series = [{ type: 'custom', data: data, encode: { x: 0, y: 1 },
                     renderItem: cell(figure, theme, most) }];
  option.tooltip.formatter = function (hit) {
    var v = hit.value;
    return hover(figure.rows[v[1]] + ' / ' + figure.columns[v[0]],
                 [['', '', textAt(figure, v[1], v[0]).replace('\n', ' ')]]);
  };
  return option;
}
