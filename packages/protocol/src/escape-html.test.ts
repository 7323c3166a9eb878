import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeHtml } from './escape-html.ts';

describe('Text in a page', () => {
  it('cannot begin a tag, end an attribute or make an entity', () => {
    expect(escapeHtml(`<a href="x" title='y'>&lt;`)).toBe(
      '&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;lt;',
    );
  });

  it('of any kind holds none of the five characters that mean something, and reads as it was', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const escaped = escapeHtml(text);
        expect(escaped).not.toMatch(/[<>"']|&(?!(?:amp|lt|gt|quot|#39);)/);
        const read = escaped
          .replaceAll('&lt;', '<')
          .replaceAll('&gt;', '>')
          .replaceAll('&quot;', '"')
          .replaceAll('&#39;', "'")
          .replaceAll('&amp;', '&');
        expect(read).toBe(text);
      }),
    );
  });
});
