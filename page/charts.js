// charts.js - a figure (JSON, see src/report/figure.h) and a theme to an
// option of ECharts. The same builders draw the page and, inside the C
// program, the SVG files: hence the ES5 syntax of this folder.
import echarts from './echarts.js';
import contour from './charts/contour.js';
import forest from './charts/forest.js';
import matrix from './charts/matrix.js';
import pairs from './charts/pairs.js';
import plot from './charts/plot.js';
import surface from './charts/surface.js';
import { extend } from './charts/frame.js';
import { light } from './charts/theme.js';

var kinds = { contour: contour, forest: forest, matrix: matrix, pairs: pairs,
              plot: plot, surface: surface };

export function chart(figure, theme, size) {
  var make = kinds[figure.kind];
  if (!make)
    throw new Error('a figure of unknown kind ' + figure.kind);
  return make(figure, theme, size);
}

// A picture that stands alone: white, with its title and note.
export function svg(figure, width, height) {
  var theme = extend(light, { titled: true });
  var size = { width: width, height: height };
  var drawn = echarts.init(null, null, { renderer: 'svg', ssr: true,
                                         width: width, height: height });
  try {
    drawn.setOption(chart(figure, theme, size));
    return drawn.renderToSVGString();
  } finally {
    drawn.dispose();
  }
}
