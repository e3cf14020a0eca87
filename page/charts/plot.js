// plot.js - kind "plot": layers over one pair of axes. Each series has a
// `type`, and a function below that turns it into one series of ECharts.
import { colour, dash, symbol } from './theme.js';
import { axis, base, extend, hover, legend } from './frame.js';
import { number } from './format.js';

// x as given, or evenly spaced: from, from + step, ...
function xOf(series, i) {
  return series.x ? series.x[i] : (series.from || 0) + i * (series.step || 1);
}

function pairs(series) {
  return series.y.map(function (y, i) {
    return [xOf(series, i), y];
  });
}

function stroke(series, c) {
  return { color: c, width: series.width || 1.6, type: dash(series.dash || 0) };
}

function line(series, c) {
  return {
    type: 'line',
    data: pairs(series),
    symbol: series.marked ? symbol(series.dash || 0) : 'none',
    symbolSize: 6,
    lineStyle: stroke(series, c),
    opacity: series.opacity,
    connectNulls: false,
    emphasis: { disabled: true },
  };
}

// The surface between the line and zero.
function area(series, c) {
  var made = line(series, c);
  made.areaStyle = { color: c, opacity: 0.22, origin: series.origin || 0 };
  return made;
}

// A histogram: n heights over n + 1 edges.
function steps(series, c) {
  var data = [[series.edges[0], 0]];
  series.y.forEach(function (y, i) {
    data.push([series.edges[i], y], [series.edges[i + 1], y]);
  });
  data.push([series.edges[series.y.length], 0]);
  return {
    type: 'line',
    data: data,
    symbol: 'none',
    lineStyle: stroke(series, c),
    areaStyle: series.filled ? { color: c, opacity: 0.28, origin: 0 }
                             : undefined,
    emphasis: { disabled: true },
  };
}

function points(series, c, i) {
  var many = series.y.length > 300;
  return {
    type: 'scatter',
    data: pairs(series),
    symbol: symbol(series.symbol === undefined ? i : series.symbol),
    symbolSize: series.size || (many ? 3.5 : 7),
    itemStyle: { color: c, opacity: series.opacity || (many ? 0.55 : 0.9) },
    emphasis: { disabled: true },
  };
}

function bars(series, c) {
  return {
    type: 'bar',
    data: series.x ? pairs(series) : series.y,
    itemStyle: { color: c },
    barMaxWidth: 46,
    barCategoryGap: '35%',
    emphasis: { disabled: true },
  };
}

function polygon(api, corners, style) {
  return {
    type: 'polygon',
    shape: { points: corners.map(function (p) { return api.coord(p); }) },
    style: style,
    silent: true,
  };
}

// The surface between `lower` and `upper`.
function band(series, c) {
  var low = series.lower.map(function (y, i) { return [xOf(series, i), y]; });
  var high = series.upper.map(function (y, i) { return [xOf(series, i), y]; });
  return {
    type: 'custom',
    data: low.concat(high.slice().reverse()),
    clip: true,
    renderItem: function (params, api) {
      return params.dataIndex > 0 ? null
        : polygon(api, low.concat(high.slice().reverse()),
                  { fill: c, opacity: 0.2 });
    },
  };
}

function segment(from, to, style) {
  return { type: 'line', style: style,
           shape: { x1: from[0], y1: from[1], x2: to[0], y2: to[1] } };
}

function marker(kind, at, r, style) {
  if (kind === 'circle')
    return { type: 'circle', style: style,
             shape: { cx: at[0], cy: at[1], r: r } };
  var corners = { triangle: [[0, -1.2], [1.1, 0.8], [-1.1, 0.8]],
                  rect: [[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]] };
  return { type: 'polygon', style: style, shape: {
    points: (corners[kind] || [[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]])
      .map(function (p) { return [at[0] + r * p[0], at[1] + r * p[1]]; }) } };
}

// Bars of error: value with lower and upper, along y, or along x in forests.
function errors(series, c, i, theme) {
  var along = series.along === 'x';
  var data = series.y.map(function (y, k) {
    return [xOf(series, k), y, series.lower[k], series.upper[k]];
  });
  function at(api, k) {
    return along ? [api.value(k), api.value(1)] : [api.value(0), api.value(k)];
  }
  return {
    type: 'custom',
    data: data,
    dimensions: ['x', 'y', 'lower', 'upper'],
    encode: along ? { x: [0, 2, 3], y: 1 } : { x: 0, y: [1, 2, 3] },
    itemStyle: { color: c },
    renderItem: function (params, api) {
      var style = { stroke: c, lineWidth: 1.8, fill: c };
      var middle = api.coord([api.value(0), api.value(1)]);
      var shapes = [];
      if (!isFinite(middle[0]) || !isFinite(middle[1]))
        return null;
      if (isFinite(api.value(2)) && isFinite(api.value(3))) {
        var low = api.coord(at(api, 2)), high = api.coord(at(api, 3));
        var dx = along ? 0 : 4, dy = along ? 4 : 0;
        shapes = [low, high].map(function (p) {
          return segment([p[0] - dx, p[1] - dy], [p[0] + dx, p[1] + dy], style);
        });
        shapes.push(segment(low, high, style));
      }
      if (series.size === 0)
        return { type: 'group', children: shapes };
      var hollow = series.hollow && series.hollow[params.dataIndex];
      shapes.push(marker(symbol(i), middle, 4.5,
                         { fill: hollow ? theme.background : c, stroke: c,
                           lineWidth: 1.8 }));
      return { type: 'group', children: shapes };
    },
  };
}

// A reference value: a line across at x or y = value.
function rule(series, c, i, theme) {
  var where = series.axis === 'x' ? { xAxis: series.value }
                                  : { yAxis: series.value };
  where.name = series.label || '';
  return {
    type: 'line',
    data: [],
    silent: true,
    lineStyle: { color: c, type: dash(1), width: 1.4 },
    markLine: {
      silent: true,
      symbol: 'none',
      data: [where],
      lineStyle: { color: c, type: dash(1), width: 1.4 },
      label: {
        show: !!series.label,
        formatter: '{b}',
        color: theme.text,
        fontSize: 11,
        position: series.axis === 'x' ? 'insideEndTop' : 'insideStartTop',
      },
    },
  };
}

var layers = { line: line, area: area, steps: steps, points: points,
               bars: bars, band: band, errors: errors, rule: rule };

function layer(series, i, theme) {
  var c = series.colour === -1 ? theme.line
    : colour(theme, series.colour === undefined ? i : series.colour);
  var made = layers[series.type](series, c, i, theme);
  made.name = series.name || '';
  made.color = c; // legend and hover box follow
  if (!made.itemStyle)
    made.itemStyle = { color: c };
  made.z = 2 + i;
  return made;
}

// 1, 2 or 5 times a power of ten, near `length`.
function niceStep(length) {
  var power = Math.pow(10, Math.floor(Math.log(length) / Math.LN10));
  var share = length / power;
  return power * (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10);
}

// The next round number beyond `value`, for a range of this length.
function beyond(value, length, up, log) {
  if (log)
    return Math.pow(10, Math[up ? 'ceil' : 'floor'](Math.log(value) / Math.LN10));
  var step = niceStep(length / 5);
  var k = value / step;
  return Number(((up ? Math.ceil(k) : Math.floor(k)) * step).toPrecision(12));
}

// Rules count for the extent of an axis, which ECharts leaves out.
function widen(spec, series, name) {
  var values = series.filter(function (s) {
    return s.type === 'rule' && (s.axis || 'y') === name;
  }).map(function (s) { return s.value; });
  if (values.length === 0)
    return spec;
  var log = spec && spec.scale === 'log';
  var low = Math.min.apply(null, values), high = Math.max.apply(null, values);
  return extend({
    min: function (d) {
      return low < d.min ? beyond(low, d.max - low, false, log) : null;
    },
    max: function (d) {
      return high > d.max ? beyond(high, high - d.min, true, log) : null;
    },
  }, spec);
}

function pointHover(figure) {
  return function (hit) {
    var series = figure.series[hit.seriesIndex] || {};
    var v = hit.value;
    var rows = [['', (figure.y || {}).name, number(v[1])]];
    if (series.type === 'errors')
      rows.push(['', '95 % interval',
                 number(v[2]) + ' to ' + number(v[3])]);
    return hover(hit.seriesName, [['', (figure.x || {}).name, number(v[0])]]
      .concat(rows));
  };
}

function axisHover(figure) {
  return function (hits) {
    if (!hits.length)
      return '';
    var x = hits[0].axisValue, seen = {};
    var rows = hits.filter(function (hit) {
      var first = !seen[hit.seriesIndex];
      seen[hit.seriesIndex] = true;
      return first;
    }).map(function (hit) {
      var v = Array.isArray(hit.value) ? hit.value[1] : hit.value;
      return [hit.marker, hit.seriesName || (figure.y || {}).name, number(v)];
    });
    var label = (figure.x || {}).label;
    return hover(((figure.x || {}).name || '') + ' ' +
                 (typeof x !== 'number' ? x : label ? label(x) : number(x)),
                 rows);
  };
}

// In the legend, lines without marks are lines.
function bareLines(option, series) {
  if (!option.legend)
    return;
  option.legend.data = option.legend.data.map(function (name) {
    var bare = series.some(function (s) {
      return s.name === name && !s.marked && /line|area|steps/.test(s.type);
    });
    return bare ? { name: name, itemStyle: { opacity: 0 } } : { name: name };
  });
}

export default function plot(figure, theme, size) {
  var option = base(figure, theme);
  var series = figure.series || [];
  var free = series.every(function (s) {
    return s.type === 'points' || s.type === 'errors' || s.type === 'rule';
  });
  option.xAxis = axis(widen(figure.x, series, 'x'), theme, false);
  option.yAxis = axis(widen(figure.y, series, 'y'), theme, true);
  option.series = series.map(function (s, i) { return layer(s, i, theme); });
  option.tooltip.trigger = free ? 'item' : 'axis';
  option.tooltip.formatter = free ? pointHover(figure) : axisHover(figure);
  option.tooltip.axisPointer = { lineStyle: { color: theme.line } };
  legend(option, figure, theme,
         series.map(function (s) { return s.name; }), size);
  bareLines(option, series);
  return option;
}
