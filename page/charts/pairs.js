// pairs.js - kind "pairs": every column against every other, histograms on
// the diagonal, groups by colour and shape.
//   columns: [{name, values}]; groups: a group's number for each draw, or
//   absent; group_names.
import { colour, symbol } from './theme.js';
import { axis, base, hover, legend } from './frame.js';
import { number } from './format.js';

function groupCount(figure) {
  return figure.groups ? Math.max.apply(null, figure.groups) + 1 : 1;
}

function extent(values) {
  var low = Math.min.apply(null, values), high = Math.max.apply(null, values);
  var room = (high - low || Math.abs(high) || 1) * 0.04;
  return [low - room, high + room];
}

function histogram(values, range, bins) {
  var counts = [];
  for (var k = 0; k < bins; k++)
    counts.push(0);
  var step = (range[1] - range[0]) / bins;
  values.forEach(function (v) {
    counts[Math.min(bins - 1, Math.floor((v - range[0]) / step))]++;
  });
  var data = [[range[0], 0]];
  counts.forEach(function (n, i) {
    data.push([range[0] + i * step, n], [range[0] + (i + 1) * step, n]);
  });
  data.push([range[1], 0]);
  return data;
}

function members(figure, g) {
  var made = [];
  figure.columns[0].values.forEach(function (v, k) {
    if (!figure.groups || figure.groups[k] === g)
      made.push(k);
  });
  return made;
}

function pick(values, which) {
  return which.map(function (k) { return values[k]; });
}

// One panel's axes; only the outer ones have labels and names.
function panelAxes(figure, theme, i, j, ranges, diagonal) {
  var n = figure.columns.length;
  var x = axis({ name: i === n - 1 ? figure.columns[j].name : '',
                 min: ranges[j][0], max: ranges[j][1] }, theme, false);
  var y = axis({ name: j === 0 ? figure.columns[i].name : '',
                 min: diagonal ? 0 : ranges[i][0],
                 max: diagonal ? undefined : ranges[i][1] }, theme, true);
  x.nameGap = 26;
  y.nameGap = 52;
  x.splitNumber = y.splitNumber = 3;
  x.axisLabel.show = i === n - 1;
  y.axisLabel.show = j === 0 && !diagonal;
  x.axisLabel.showMinLabel = x.axisLabel.showMaxLabel = false;
  y.axisLabel.showMinLabel = y.axisLabel.showMaxLabel = false;
  y.axisTick.show = y.axisLabel.show;
  y.splitLine.show = false;
  return [x, y];
}

function panelSeries(figure, theme, i, j, at, ranges) {
  var made = [];
  for (var g = 0; g < groupCount(figure); g++) {
    var which = members(figure, g);
    var xs = pick(figure.columns[j].values, which);
    var ys = pick(figure.columns[i].values, which);
    var c = colour(theme, g);
    made.push(i === j ? {
      type: 'line', symbol: symbol(g), showSymbol: false,
      data: histogram(xs, ranges[i], 30),
      lineStyle: { color: c, width: 1.2 },
      areaStyle: { color: c, opacity: 0.25 },
    } : {
      type: 'scatter', symbol: symbol(g), symbolSize: 3.5,
      data: xs.map(function (x, k) { return [x, ys[k]]; }),
      itemStyle: { color: c, opacity: 0.5 },
    });
    var last = made[made.length - 1];
    last.name = (figure.group_names || [])[g] || '';
    last.color = c;
    last.xAxisIndex = last.yAxisIndex = at;
    last.emphasis = { disabled: true };
  }
  return made;
}

export default function pairs(figure, theme, size) {
  var option = base(figure, theme), n = figure.columns.length;
  var ranges = figure.columns.map(function (c) { return extent(c.values); });
  legend(option, figure, theme, figure.group_names || [], size);
  var above = option.grid.top, left = 76, below = 46;
  var wide = (size.width - left - 12) / n;
  var high = (size.height - above - below) / n;
  var places = [];
  option.grid = [];
  option.xAxis = [];
  option.yAxis = [];
  option.series = [];
  for (var i = 0; i < n; i++)
    for (var j = 0; j <= i; j++) {
      var at = option.grid.length;
      places.push([i, j]);
      option.grid.push({ left: left + j * wide, top: above + i * high,
                         width: wide - 8, height: high - 8,
                         outerBoundsMode: 'none' });
      var both = panelAxes(figure, theme, i, j, ranges, i === j);
      both[0].gridIndex = both[1].gridIndex = at;
      option.xAxis.push(both[0]);
      option.yAxis.push(both[1]);
      option.series = option.series.concat(
        panelSeries(figure, theme, i, j, at, ranges));
    }
  option.tooltip.formatter = function (hit) {
    var place = places[Math.floor(hit.seriesIndex / groupCount(figure))];
    return hover(hit.seriesName, [
      ['', figure.columns[place[1]].name, number(hit.value[0])],
      ['', figure.columns[place[0]].name, number(hit.value[1])]]);
  };
  return option;
}
