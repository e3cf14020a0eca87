// forest.js - kind "forest": estimates with their intervals, one per line.
//   items: [{name, value, lower, upper, doubtful, main}]; reference: number.
// Doubtful ones are hollow, the one to quote has its name in bold.
import plot from './plot.js';
import { hover, nameRoom } from './frame.js';
import { number } from './format.js';

function pick(items, key) {
  return items.map(function (item) { return item[key]; });
}

function layers(figure) {
  var items = figure.items, known = figure.reference;
  var made = [{
    type: 'errors', along: 'x', colour: 0, x: pick(items, 'value'),
    y: items.map(function (item, i) { return i; }),
    lower: pick(items, 'lower'), upper: pick(items, 'upper'),
    hollow: pick(items, 'doubtful'),
  }];
  if (typeof known === 'number')
    made.push({ type: 'rule', axis: 'x', value: known, colour: 1,
                label: figure.reference_name || '' });
  return made;
}

export default function forest(figure, theme, size) {
  var items = figure.items;
  var option = plot({
    title: figure.title, note: figure.note, x: figure.x,
    y: { scale: 'category', inverse: true, categories: pick(items, 'name') },
    series: layers(figure),
  }, theme, size);
  var names = option.yAxis.axisLabel;
  nameRoom(option, pick(items, 'name'));
  names.interval = 0;
  names.color = theme.text;
  names.rich = { main: { fontWeight: 700, color: theme.text } };
  names.formatter = function (name, i) {
    return items[i] && items[i].main ? '{main|' + name + '}' : name;
  };
  option.xAxis.splitLine.show = true;
  option.tooltip.formatter = function (hit) {
    var item = items[hit.dataIndex];
    return hover(item.name, [
      ['', (figure.x || {}).name, number(item.value)],
      ['', '95 % interval', number(item.lower) + ' to ' + number(item.upper)],
    ].concat(item.remark ? [['', '', item.remark]] : []));
  };
  return option;
}
