// screenshots.js - the pictures of pages in docs/, from runs made just now.
//   node screenshots.js REPORT.html COMPARISON.html FOLDER
import { join } from 'node:path';
import { openBrowser, openPage, drawAll } from './test/browser.js';

var [report, comparison, folder] = process.argv.slice(2);

// [name, file, section at the top, width, height, colours]
var pictures = [
  ['report-light', report, 'Verdict', 1180, 1420, 'light'],
  ['report-dark', report, 'One by one', 1180, 1000, 'dark'],
  ['report-phone', report, 'Pairs', 390, 780, 'light'],
  ['compare-light', comparison, 'Models', 1180, 1000, 'light'],
];

var browser = await openBrowser();
for (var [name, file, section, width, height, colours] of pictures) {
  var { page } = await openPage(browser, file, {
    viewport: { width: width, height: height }, colorScheme: colours });
  await drawAll(page);
  await page.evaluate(function (heading) {
    var first = heading === document.querySelector('h2').textContent;
    var found = Array.from(document.querySelectorAll('h2')).filter(
      function (h) { return h.textContent === heading; })[0];
    if (first)
      window.scrollTo(0, 0);
    else
      found.scrollIntoView();
    window.scrollBy(0, first ? 0 : -56);
  }, section);
  await page.waitForTimeout(500);
  await page.screenshot({ path: join(folder, name + '.png') });
  await page.close();
}
await browser.close();
