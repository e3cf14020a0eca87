// browser.js - Chromium for the tests and the screenshots.
import { chromium } from 'playwright-core';
import { existsSync } from 'node:fs';

var places = [process.env.CHROMIUM, '/usr/bin/chromium',
              '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export function findBrowser() {
  return places.filter(function (path) {
    return path && existsSync(path);
  })[0];
}

export function openBrowser() {
  return chromium.launch({
    executablePath: findBrowser(),
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
           '--disable-background-networking', '--disable-component-update',
           '--disable-sync'],
  });
}

// A page from a file, with all that went wrong and all that was asked for.
export async function openPage(browser, path, options) {
  var page = await browser.newPage(options);
  var seen = { errors: [], requests: [] };
  page.on('console', function (message) {
    if (message.type() === 'error' || message.type() === 'warning')
      seen.errors.push(message.text());
  });
  page.on('pageerror', function (error) { seen.errors.push(error.message); });
  page.on('request', function (request) {
    var url = request.url();
    if (!url.startsWith('file://' + path) && !/^(data|blob):/.test(url))
      seen.requests.push(url);
  });
  // The time that the page's thread worked: a busy machine adds none.
  var session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await page.goto('file://' + path);
  await page.locator('.chart').first().scrollIntoViewIfNeeded();
  await page.waitForSelector('figure svg path', { state: 'attached' });
  var { metrics } = await session.send('Performance.getMetrics');
  seen.milliseconds = Math.round(1000 * metrics.filter(function (m) {
    return m.name === 'TaskDuration';
  })[0].value); // until a chart is drawn
  return { page: page, seen: seen };
}

// Every figure comes into view once, so that all are drawn.
export async function drawAll(page) {
  await page.evaluate(async function () {
    for (var box of document.querySelectorAll('.chart')) {
      box.scrollIntoView();
      for (var i = 0; i < 250 && !box.querySelector('svg'); i++)
        await new Promise(function (done) { setTimeout(done, 20); });
    }
    window.scrollTo(0, 0);
  });
}
