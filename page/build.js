// build.js - bundles the charts and the page into ../src/report/page.js, which
// the C library embeds together with page.css.
//
// Node is needed only for this. Identifiers and spaces are shortened but not
// the syntax: what esbuild makes of that, Duktape cannot parse.
import { buildSync } from 'esbuild';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

var here = dirname(fileURLToPath(import.meta.url));
// build.js --into FOLDER: somewhere else, to compare with what is committed.
var into = process.argv[2] === '--into' ? process.argv[3]
                                        : join(here, '../src/report');

var notice = '/*! The charts of Tempera. Contains Apache ECharts 6 and ZRender ' +
    '(Apache-2.0, BSD-3-Clause), d3-contour and d3-array (BSD-3-Clause), ' +
    'tslib (0BSD). Made from page/ by `make page`. */';

function bundle() {
  var result = buildSync({
    entryPoints: [join(here, 'main.js')],
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es5', // what Duktape runs
    minifyWhitespace: true,
    minifyIdentifiers: true,
    legalComments: 'none',
    define: { 'process.env.NODE_ENV': '"production"' },
    banner: { js: notice },
  });
  return result.outputFiles[0].text;
}

var script = bundle();
if (/<\/script|<!--/i.test(script))
  throw new Error('the bundle would end the <script> that holds it');
writeFileSync(join(into, 'page.js'), script);
