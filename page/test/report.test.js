// report.test.js - the page of a run in a real browser.
//   RUN, HOSTILE, LARGE, COMPARISON, WIDE, QUANTITIES: pages made by tests/report/browser.sh.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { drawAll, openBrowser, openPage } from './browser.js';

var browser;
before(async function () { browser = await openBrowser(); });
after(async function () { await browser.close(); });

// Many of the browser's calls wait for ever if it hangs: no test does.
function check(fact, body) { test(fact, { timeout: 60000 }, body); }

async function open(path, options) {
  return openPage(browser, path, options || { viewport: { width: 1200,
                                                          height: 900 } });
}

// [title, number of shapes] of every figure.
function shapes(page) {
  return page.$$eval('figure', function (figures) {
    return figures.map(function (figure) {
      return [figure.querySelector('figcaption').textContent,
              figure.querySelectorAll('svg path, svg polyline').length];
    });
  });
}

check('the page loads alone, without errors, and draws every figure',
      async function () {
  for (var path of [process.env.RUN, process.env.COMPARISON]) {
    var { page, seen } = await open(path);
    await drawAll(page);
    var drawn = await shapes(page);
    assert.ok(drawn.length >= 3);
    for (var [title, count] of drawn)
      assert.ok(count > 5, title + ' has ' + count + ' shapes');
    assert.deepEqual(seen.errors, []);
    assert.deepEqual(seen.requests, []);
    await page.close();
  }
});

check('a comparison lays marginals over each other', async function () {
  var { page, seen } = await open(process.env.COMPARISON);
  await drawAll(page);
  var section = page.locator('section', { hasText: 'Marginals' });
  assert.equal(await section.locator('figure').count(), 4);
  await section.locator('select').selectOption({ label: 'p[2]' });
  await drawAll(page);
  assert.equal(await section.locator('figure').count(), 1);
  var text = await section.locator('figure svg').textContent();
  assert.match(text, /three/);
  assert.match(text, /equal/);
  assert.deepEqual(seen.errors, []);
  await page.close();
});

check('a run has all of its sections', async function () {
  var { page } = await open(process.env.RUN);
  var headings = await page.$$eval('h2', function (all) {
    return all.map(function (h) { return h.textContent; });
  });
  for (var name of ['Verdict', 'Parameters', 'Evidence', 'Modes', 'Pairs',
                    'One by one', 'Tempering', 'Cost and options'])
    assert.ok(headings.includes(name), name);
  await page.close();
});

function column(page, n) {
  return page.$$eval('section:nth-of-type(3) tbody tr', function (rows, k) {
    return rows.map(function (row) { return row.children[k].textContent; });
  }, n);
}

check('a table sorts by numbers, up and down', async function () {
  var { page } = await open(process.env.RUN);
  var head = page.locator('section:nth-of-type(3) thead button').nth(2);
  function increasing(list) {
    return list.every(function (x, i) {
      return i === 0 || Number(list[i - 1]) <= Number(x);
    });
  }
  await head.click();
  var up = await column(page, 2);
  assert.ok(up.length > 1 && increasing(up), up.join(' '));
  await head.click();
  assert.deepEqual(await column(page, 2), up.slice().reverse());
  await page.close();
});

check('the answer comes first', async function () {
  var { page } = await open(process.env.RUN);
  var place = await page.locator('.answer .number').boundingBox();
  assert.ok(place.y < 300, 'at ' + place.y);
  assert.match(await page.locator('.answer .number').textContent(),
               /^log Z = -\d+\.\d+ \u00b1 0\.\d+$/);
  await page.close();
});

check('charts against tau are spaced by the barrier, or by tau',
      async function () {
  var { page, seen } = await open(process.env.RUN);
  await drawAll(page);
  var figure = page.locator('figure', { hasText: 'Marginal of tau' });
  assert.match(await figure.textContent(), /spaced by the barrier/);
  await page.locator('button.path').click();
  assert.doesNotMatch(await figure.textContent(), /spaced by the barrier/);
  assert.deepEqual(seen.errors, []);
  await page.close();
});

check('options are folded away until they are asked for', async function () {
  var { page } = await open(process.env.RUN);
  var fold = page.locator('details', { hasText: 'Options in force' });
  assert.equal(await fold.locator('tr').count(), 0);
  await fold.locator('summary').click();
  await fold.locator('tr').nth(10).waitFor(); // filled when the fold has opened
  await page.close();
});

check('hovering shows numbers', async function () {
  var { page } = await open(process.env.RUN);
  await drawAll(page);
  for (var title of ['Mean log likelihood', 'Marginal', 'Trace of tau']) {
    var box = page.locator('figure', { hasText: title }).first()
      .locator('.chart');
    await box.scrollIntoViewIfNeeded();
    var place = await box.boundingBox();
    await page.mouse.move(place.x + place.width / 2, place.y + 120);
    await page.mouse.move(place.x + place.width / 2 + 3,
                          place.y + place.height / 2);
    await page.waitForFunction(function (name) {
      var figure = Array.from(document.querySelectorAll('figure')).filter(
        function (f) { return f.textContent.includes(name); })[0];
      var tip = Array.from(figure.querySelectorAll('.chart > div')).pop();
      return tip && /\d/.test(tip.textContent) &&
          getComputedStyle(tip).visibility !== 'hidden';
    }, title, { timeout: 5000 });
  }
  await page.close();
});

check('a figure is saved as SVG', async function () {
  var { page } = await open(process.env.RUN);
  var waiting = page.waitForEvent('download');
  await page.locator('.save').first().click();
  var file = await waiting;
  assert.match(file.suggestedFilename(), /\.svg$/);
  await page.close();
});

check('dark by the system, and by the button', async function () {
  var { page, seen } = await open(process.env.RUN, { colorScheme: 'dark' });
  function background() {
    return page.evaluate(function () {
      return getComputedStyle(document.body).backgroundColor;
    });
  }
  var dark = await background();
  assert.equal(dark, 'rgb(15, 19, 24)');
  var ink = 'figure svg text[fill="#e6edf3"]';
  assert.ok(await page.locator(ink).count() > 0, 'text in charts is light');
  await page.locator('button.theme').click();
  assert.equal(await background(), 'rgb(255, 255, 255)');
  assert.equal(await page.locator(ink).count(), 0);
  assert.deepEqual(seen.errors, []);
  await page.close();
});

check('the contents are seen whole at 1200 pixels', async function () {
  for (var path of [process.env.RUN, process.env.COMPARISON]) {
    var { page } = await open(path);
    var cut = await page.$eval('nav', function (nav) {
      return [nav.scrollWidth - nav.clientWidth].concat(
        Array.from(nav.children).map(function (a) {
          return a.getBoundingClientRect().right -
            nav.getBoundingClientRect().right;
        }));
    });
    assert.ok(Math.max.apply(null, cut) <= 1, cut.join(' '));
    await page.close();
  }
});

check('wide tables are seen whole, remarks too, on screen and on paper',
      async function () {
  var { page, seen } = await open(process.env.WIDE);
  var cut = function (box) { return box.scrollWidth - box.clientWidth; };
  assert.equal(await page.locator('.table').first().evaluate(cut), 0);
  var link = page.locator('nav a').first();
  assert.equal(await link.textContent(), 'Table 7');
  assert.match(await link.getAttribute('title'), /names are long/);
  await page.setViewportSize({ width: 760, height: 900 });
  await page.emulateMedia({ media: 'print' });
  assert.ok(await page.evaluate(function () {
    return document.documentElement.scrollWidth <= window.innerWidth;
  }));
  assert.deepEqual(seen.errors, []);
  await page.close();
});

check('5 000 generated quantities: small, quick, folded and found by name',
      async function (t) {
  var size = statSync(process.env.QUANTITIES).size;
  assert.ok(size < 10e6, size + ' bytes');
  var { page, seen } = await open(process.env.QUANTITIES);
  t.diagnostic('opened in ' + seen.milliseconds + ' ms, ' + size + ' bytes');
  assert.ok(seen.milliseconds < 3000, 'took ' + seen.milliseconds + ' ms');
  assert.ok(await page.locator('tbody tr').count() < 200);
  assert.deepEqual(seen.errors, []);
  await page.close();
});

check('a narrow screen has no sideways scrolling', async function () {
  var { page, seen } = await open(process.env.RUN, {
    viewport: { width: 360, height: 740 } });
  await drawAll(page);
  var widths = await page.evaluate(function () {
    return [document.documentElement.scrollWidth, window.innerWidth];
  });
  assert.ok(widths[0] <= widths[1], widths.join(' > '));
  var wide = await page.$$eval('figure svg', function (all) {
    return Math.max.apply(null, all.map(function (svg) {
      return svg.getBoundingClientRect().right;
    }));
  });
  assert.ok(wide <= 360);
  assert.deepEqual(seen.errors, []);
  await page.close();
});

check('paper gets every figure, in light colours', async function () {
  var { page } = await open(process.env.RUN, { colorScheme: 'dark' });
  await page.evaluate(function () {
    window.addEventListener('afterprint', function () {
      window.printed = Array.from(document.querySelectorAll('figure')).every(
        function (f) { return f.querySelector('svg path'); });
    }, true);
  });
  var pdf = await page.pdf({ format: 'A4' });
  assert.ok(pdf.length > 30000);
  assert.equal(await page.evaluate('window.printed'), true);
  await page.close();
});

check('names with HTML stay text', async function () {
  var { page, seen } = await open(process.env.HOSTILE);
  await drawAll(page);
  assert.equal(await page.evaluate('window.broken'), undefined);
  assert.match(await page.locator('h1').textContent(), /<img src=x/);
  assert.equal(await page.locator('img').count(), 0);
  var marginal = page.locator('figure', { hasText: 'Trace' }).first();
  var place = await marginal.locator('.chart').boundingBox();
  await page.mouse.move(place.x + 200, place.y + 100);
  await page.mouse.move(place.x + 205, place.y + 105);
  await page.waitForTimeout(300);
  assert.equal(await page.locator('img').count(), 0);
  assert.deepEqual(seen.errors, []);
  assert.deepEqual(seen.requests, []);
  await page.close();
});

check('200 parameters and 4 x 10 000 draws: small, quick, and all to choose',
      async function (t) {
  var size = statSync(process.env.LARGE).size;
  assert.ok(size < 10e6, size + ' bytes');
  var { page, seen } = await open(process.env.LARGE);
  t.diagnostic('opened in ' + seen.milliseconds + ' ms, ' + size + ' bytes');
  assert.ok(seen.milliseconds < 3000, 'took ' + seen.milliseconds + ' ms');
  var rows = page.locator('section:nth-of-type(3) tbody tr');
  assert.equal(await rows.count(), 20);
  await page.locator('section:nth-of-type(3) .find button').click();
  assert.equal(await rows.count(), 200);
  await page.locator('section:nth-of-type(3) .find input').fill('X[12');
  assert.equal(await rows.count(), 11); // x[12], x[120] .. x[129]
  await page.selectOption('.choose select', { label: 'x[123]' });
  await page.waitForFunction(function () {
    return Array.from(document.querySelectorAll('h3')).some(function (h) {
      return h.textContent === 'x[123]';
    });
  });
  await drawAll(page);
  for (var [title, count] of await shapes(page))
    assert.ok(count > 5, title);
  assert.deepEqual(seen.errors, []);
  await page.close();
});
