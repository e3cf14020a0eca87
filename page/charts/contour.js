// contour.js - kind "contour": level lines or filled bands of functions on
// grids, with any layers of a plot above them.
//   grids: [{name, x: [n], y: [m], z: m rows of n, levels, filled, colour}];
//   levels: a list, or how many between the least and the greatest value.
import { contours } from 'd3-contour';
import plot from './plot.js';
import { blend, colour, dash } from './theme.js';
import { extend, hover } from './frame.js';
import { number } from './format.js';

function flat(rows) {
  return Array.prototype.concat.apply([], rows);
}

function levelsOf(grid, values) {
  if (Array.isArray(grid.levels))
    return grid.levels;
  var count = grid.levels || 8;
  var low = Math.min.apply(null, values), high = Math.max.apply(null, values);
  var made = [];
  for (var i = 1; i <= count; i++)
    made.push(low + (high - low) * i / (count + 1));
  return made;
}

// d3 puts value i at i + 1/2; outside of the grid there is nothing.
function place(axis, at) {
  var last = axis.length - 1;
  var t = Math.min(Math.max(at - 0.5, 0), last);
  var i = Math.min(Math.floor(t), last - 1);
  return axis[i] + (t - i) * (axis[i + 1] - axis[i]);
}

function path(shape, grid, api) {
  var parts = [];
  shape.coordinates.forEach(function (polygon) {
    polygon.forEach(function (ring) {
      parts.push('M' + ring.map(function (p) {
        var q = api.coord([place(grid.x, p[0]), place(grid.y, p[1])]);
        return q[0].toFixed(2) + ' ' + q[1].toFixed(2);
      }).join('L') + 'Z');
    });
  });
  return parts.join('');
}

function layer(grid, i, theme) {
  var values = flat(grid.z);
  var levels = levelsOf(grid, values);
  var shapes = contours().size([grid.x.length, grid.y.length])
    .thresholds(levels)(values);
  var c = colour(theme, grid.colour === undefined ? i : grid.colour);
  return {
    type: 'custom',
    name: grid.name || '',
    color: c,
    itemStyle: { color: c },
    data: levels.map(function (level) {
      return [grid.x[0], grid.y[0], level];
    }),
    encode: { x: 0, y: 1 },
    z: grid.filled ? 1 : 20, // lines above, surfaces below the layers
    renderItem: function (params, api) {
      var k = params.dataIndex;
      var share = (k + 1) / (levels.length + 1);
      return {
        type: 'path',
        shape: { pathData: path(shapes[k], grid, api) },
        style: {
          fill: grid.filled ? blend(theme.background, c, 0.85 * share)
                            : 'rgba(0,0,0,0)',
          stroke: grid.filled ? blend(theme.background, c, share) : c,
          lineWidth: grid.filled ? 0.6 : 1.4,
          lineDash: dash(grid.filled ? 0 : i),
        },
      };
    },
  };
}

function ends(grids, key) {
  var all = flat(grids.map(function (grid) {
    return [grid[key][0], grid[key][grid[key].length - 1]];
  }));
  return { min: Math.min.apply(null, all), max: Math.max.apply(null, all) };
}

export default function contour(figure, theme, size) {
  var grids = figure.grids, over = figure.series || [];
  var shifted = over.map(function (s, i) {
    return extend({ colour: grids.length + i }, s);
  });
  var option = plot({
    title: figure.title, note: figure.note,
    legend: grids.length + over.length > 1,
    x: extend(ends(grids, 'x'), figure.x),
    y: extend(ends(grids, 'y'), figure.y),
    series: shifted,
  }, theme, size);
  if (option.legend)
    option.legend.data = grids.concat(over).map(function (g) { return g.name; })
      .filter(Boolean);
  option.series = option.series.concat(grids.map(function (grid, i) {
    return layer(grid, i, theme);
  }));
  option.tooltip.trigger = 'item';
  option.tooltip.formatter = function (hit) {
    var v = hit.value;
    return hit.seriesIndex >= over.length
      ? hover(hit.seriesName, [['', 'level', number(v[2])]])
      : hover(hit.seriesName, [['', (figure.x || {}).name, number(v[0])],
                               ['', (figure.y || {}).name, number(v[1])]]);
  };
  return option;
}
