// path.js - where along the way from prior to posterior a tau is: charts against
// tau squeeze what matters into their first pixels, so that they are drawn over
// u = Lambda(tau)/Lambda(1), the share of the communication barrier, with tau at
// the ticks. Axes that may be drawn so carry `path: true`; the page's document
// has the map, path: {tau, u}, both increasing.
import { extend } from './charts/frame.js';
import { number } from './charts/format.js';

// Linear between the points of a map from one list to another.
function between(from, to, value) {
  var last = from.length - 1;
  if (value <= from[0])
    return to[0];
  if (value >= from[last])
    return to[last];
  var low = 0, high = last;
  while (high - low > 1) {
    var middle = (low + high) >> 1;
    if (from[middle] <= value)
      low = middle;
    else
      high = middle;
  }
  var width = from[high] - from[low];
  return to[low] + (width > 0 ? (to[high] - to[low]) * (value - from[low]) / width
                              : 0);
}

function move(values, map) {
  return values && values.map(function (tau) {
    return typeof tau === 'number' ? between(map.tau, map.u, tau) : tau;
  });
}

// A histogram's heights are densities: they change with the width of the bins.
function density(series, edges) {
  return series.y.map(function (y, i) {
    var width = edges[i + 1] - edges[i];
    return width > 0 ? y * (series.edges[i + 1] - series.edges[i]) / width : null;
  });
}

function series(one, map, along) {
  if (along === 'y')
    return extend(one, one.type === 'rule' ? {} : { y: move(one.y, map) });
  if (one.type === 'rule')
    return one.axis === 'x'
      ? extend(one, { value: between(map.tau, map.u, one.value) }) : one;
  if (!one.edges)
    return extend(one, { x: move(one.x, map) });
  var edges = move(one.edges, map);
  return extend(one, { edges: edges, y: density(one, edges) });
}

function label(map) {
  return function (u) {
    var tau = between(map.u, map.tau, u);
    return tau === 0 || tau === 1 ? String(tau) : number(Number(tau.toPrecision(2)));
  };
}

// The figure over u, if it has such an axis.
export function alongPath(figure, map) {
  var along = figure.x && figure.x.path ? 'x'
    : figure.y && figure.y.path ? 'y' : null;
  if (!map || !along)
    return figure;
  var changed = { series: (figure.series || []).map(function (one) {
    return series(one, map, along);
  }) };
  changed[along] = extend(figure[along], {
    min: 0, max: 1, label: label(map),
    name: figure[along].name + ', spaced by the barrier',
  });
  return extend(figure, changed);
}

export function hasPath(figure) {
  return !!((figure.x && figure.x.path) || (figure.y && figure.y.path));
}
