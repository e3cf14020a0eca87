// surface.js - kind "surface": a function on a grid in perspective.
//   x, y, z: {name}; grid: {x: [n], y: [m], z: m rows of n};
//   turn, tilt: degrees. Faces are painted from back to front.
import { blend, colour } from './theme.js';
import { base, hover, top } from './frame.js';
import { number } from './format.js';

function span(values) {
  return [Math.min.apply(null, values), Math.max.apply(null, values)];
}

// Into the cube [-1, 1] x [-1, 1] x [0, 1].
function unit(extent, value) {
  return (value - extent[0]) / (extent[1] - extent[0] || 1);
}

// A camera that looks at the middle of the cube; gives [right, up, away].
function camera(turn, tilt) {
  var a = turn * Math.PI / 180, b = tilt * Math.PI / 180;
  return function (p) {
    var x = 2 * p[0] - 1, y = 2 * p[1] - 1, z = 1.1 * (p[2] - 0.45);
    var right = x * Math.cos(a) + y * Math.sin(a);
    var deep = -x * Math.sin(a) + y * Math.cos(a);
    var up = z * Math.cos(b) + deep * Math.sin(b);
    var away = deep * Math.cos(b) - z * Math.sin(b);
    var scale = 5 / (5 + away);
    return [right * scale, up * scale, away];
  };
}

// The projection scaled into the picture.
function fitted(view, box) {
  var all = [];
  for (var i = 0; i < 8; i++)
    all.push(view([i & 1, i >> 1 & 1, i >> 2]));
  var xs = span(all.map(function (p) { return p[0]; }));
  var ys = span(all.map(function (p) { return p[1]; }));
  var scale = Math.min((box.width - 110) / (xs[1] - xs[0]),
                       (box.height - 70) / (ys[1] - ys[0]));
  return function (p) {
    var q = view(p);
    return [box.left + box.width / 2 + scale * (q[0] - (xs[0] + xs[1]) / 2),
            box.top + box.height / 2 - 8 - scale * (q[1] - (ys[0] + ys[1]) / 2),
            q[2]];
  };
}

function faces(grid, ranges, project) {
  var made = [], corners = [[0, 0], [1, 0], [1, 1], [0, 1]];
  function corner(i, j) {
    return project([unit(ranges.x, grid.x[i]), unit(ranges.y, grid.y[j]),
                    unit(ranges.z, grid.z[j][i])]);
  }
  for (var j = 0; j + 1 < grid.y.length; j++)
    for (var i = 0; i + 1 < grid.x.length; i++) {
      var four = corners.map(function (c) { return corner(i + c[0], j + c[1]); });
      var height = corners.reduce(function (sum, c) {
        return sum + grid.z[j + c[1]][i + c[0]] / 4;
      }, 0);
      made.push({
        points: four,
        away: four.reduce(function (sum, p) { return sum + p[2]; }, 0),
        value: [(grid.x[i] + grid.x[i + 1]) / 2,
                (grid.y[j] + grid.y[j + 1]) / 2, height],
      });
    }
  return made.sort(function (p, q) { return q.away - p.away; });
}

function ticks(extent) {
  var rough = (extent[1] - extent[0]) / 4;
  var power = Math.pow(10, Math.floor(Math.log(rough) / Math.LN10));
  var step = [1, 2, 2.5, 5, 10].map(function (m) { return m * power; })
    .filter(function (s) { return s >= rough * 0.99; })[0];
  var made = [];
  for (var k = Math.ceil(extent[0] / step - 1e-9);
       k * step <= extent[1] + 1e-9 * step; k++)
    made.push(Number((k * step).toPrecision(12)));
  return made;
}

function line(from, to, theme) {
  return { type: 'line', silent: true,
           shape: { x1: from[0], y1: from[1], x2: to[0], y2: to[1] },
           style: { stroke: theme.line, lineWidth: 1 } };
}

function words(text, at, theme, strong) {
  return { type: 'text', silent: true,
           style: { text: text, x: at[0], y: at[1], align: 'center',
                    verticalAlign: 'middle', fontSize: strong ? 12 : 10.5,
                    fontFamily: theme.font,
                    fill: strong ? theme.text : theme.faint } };
}

// An edge of the floor or the left upright, its ticks and its name, written
// away from the middle of the cube.
function edge(spec, extent, from, to, project, theme) {
  function at(share, out) {
    var p = [0, 1, 2].map(function (d) {
      var on = from[d] + share * (to[d] - from[d]);
      var free = from[d] === to[d] && d < 2;
      return free ? on + out * (on < 0.5 ? -1 : 1) : on;
    });
    return project(p);
  }
  var made = [line(at(0, 0), at(1, 0), theme)];
  ticks(extent).forEach(function (value) {
    var share = unit(extent, value);
    made.push(line(at(share, 0), at(share, 0.03), theme));
    made.push(words(number(value), at(share, 0.09), theme, false));
  });
  if (spec && spec.name)
    made.push(words(spec.name, at(0.5, 0.22), theme, true));
  return made;
}

function axes(figure, ranges, project, theme) {
  // The floor's two edges nearest to the eye, and the upright at the left.
  var floor = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]];
  var near = floor.map(project).reduce(function (best, p, i, all) {
    return p[2] < all[best][2] ? i : best;
  }, 0);
  var y = floor[near][1], x = floor[near][0];
  var left = floor.map(project).reduce(function (best, p, i, all) {
    return p[0] < all[best][0] ? i : best;
  }, 0);
  var foot = floor[left];
  return edge(figure.x, ranges.x, [0, y, 0], [1, y, 0], project, theme)
    .concat(edge(figure.y, ranges.y, [x, 0, 0], [x, 1, 0], project, theme))
    .concat(edge(figure.z, ranges.z, foot, [foot[0], foot[1], 1], project,
                 theme));
}

export default function surface(figure, theme, size) {
  var option = base(figure, theme), grid = figure.grid;
  var above = top(figure, theme, 0);
  var ranges = { x: span(grid.x), y: span(grid.y),
                 z: span(Array.prototype.concat.apply([], grid.z)) };
  var project = fitted(camera(figure.turn === undefined ? -35 : figure.turn,
                              figure.tilt === undefined ? 28 : figure.tilt),
                       { left: 0, top: above, width: size.width,
                         height: size.height - above });
  var all = faces(grid, ranges, project);
  var frame = axes(figure, ranges, project, theme);
  delete option.grid;
  option.series = [{
    type: 'custom',
    coordinateSystem: 'none',
    data: all.map(function (face) { return face.value; })
      .concat(frame.map(function () { return [NaN, NaN, NaN]; })),
    renderItem: function (params) {
      var face = all[params.dataIndex];
      if (!face)
        return frame[params.dataIndex - all.length];
      var share = unit(ranges.z, face.value[2]);
      return {
        type: 'polygon',
        shape: { points: face.points.map(function (p) {
          return [p[0], p[1]];
        }) },
        style: { fill: blend(theme.background, colour(theme, 0),
                             0.12 + 0.8 * share),
                 stroke: blend(theme.background, colour(theme, 0), 0.75),
                 lineWidth: 0.35 },
      };
    },
  }];
  option.tooltip.formatter = function (hit) {
    return hover('', ['x', 'y', 'z'].map(function (key, i) {
      return ['', (figure[key] || {}).name || key, number(hit.value[i])];
    }));
  };
  return option;
}
