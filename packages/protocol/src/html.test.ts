import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { html, renderDocument } from './html.ts';

/** Any UTF-16 code units; the unit `binary` of fast-check takes a second to set up. */
const TEXT = fc
  .array(fc.oneof(fc.nat({ max: 0x7f }), fc.nat({ max: 0xffff })), { maxLength: 10, size: 'max' })
  .map((units) => String.fromCharCode(...units));

describe('html', () => {
  it('escapes text, and leaves markup made by itself alone', () => {
    const inner = html`<b>${'<i>'}</b>`;
    expect(html`<p title="${'"x" & \'y\''}">${inner}${[inner, html`!`]}</p>`.toString()).toBe(
      '<p title="&quot;x&quot; &amp; &#39;y&#39;"><b>&lt;i&gt;</b><b>&lt;i&gt;</b>!</p>',
    );
  });

  it('does not take a text for markup, also when it looks escaped already', () => {
    expect(html`${'&lt;'}`.toString()).toBe('&amp;lt;');
    expect(html`${String(html`<b>`)}`.toString()).toBe('&lt;b&gt;');
  });

  it('lets no text out of an element or a quoted attribute', () => {
    fc.assert(
      fc.property(TEXT, (text) => {
        const markup = html`${text}`.toString();
        expect(markup).not.toMatch(/[<>"']/);
        const decoded = markup
          .replaceAll('&lt;', '<')
          .replaceAll('&gt;', '>')
          .replaceAll('&quot;', '"')
          .replaceAll('&#39;', "'")
          .replaceAll('&amp;', '&');
        expect(decoded).toBe(text);
      }),
      { numRuns: 300 },
    );
  });

  it('keeps numbers and lists of markup, and leaves out what is undefined', () => {
    const items = [html`<i>${1}</i>`, html`<i>${2}</i>`];
    expect(html`<p>${items}${undefined}${html`<br>`}</p>`.toString()).toBe(
      '<p><i>1</i><i>2</i><br></p>',
    );
  });
});

describe('renderDocument', () => {
  const FRAME = { title: 'A & B', style: 'a>b{}', body: html`<p>text</p>` };

  it('escapes the title, and changes no character of style and script', () => {
    expect(renderDocument({ ...FRAME, script: 'a && b' })).toBe(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>A &amp; B</title>
<style>a>b{}</style>
</head>
<body>
<p>text</p>
<script>a && b</script>
</body>
</html>
`);
  });

  it('has no script that was not given', () => {
    expect(renderDocument(FRAME)).not.toContain('<script');
    expect(renderDocument({ ...FRAME, head: html`<script src="/x.js"></script>\n` })).toContain(
      '</style>\n<script src="/x.js"></script>\n</head>\n<body>\n',
    );
  });
});
