import { describe, expect, it } from 'vitest';
import { takesLinks, withLink } from '../../../src/cli/render/links.ts';
import { onScreen } from '../../../src/cli/render/screen.ts';
import { PLAIN } from '../../../src/cli/render/style.ts';

const XTERM = { TERM: 'xterm-256color' };
const linked = (path: string, address = path): string => `\u001b]8;;file://${address}\u001b\\${path}\u001b]8;;\u001b\\`;

describe('links to files', () => {
  it.each<[terminal: string, environment: Record<string, string>, takes: boolean]>([
    ['kitty', { TERM: 'xterm-kitty', KITTY_WINDOW_ID: '1' }, true],
    ['VS Code', { ...XTERM, TERM_PROGRAM: 'vscode' }, true],
    ['GNOME Terminal', { ...XTERM, VTE_VERSION: '7600' }, true],
    ['an old VTE', { ...XTERM, VTE_VERSION: '4801' }, false],
    ['no known one', XTERM, false],
    ['Apple’s Terminal', { ...XTERM, TERM_PROGRAM: 'Apple_Terminal' }, false],
    ['tmux in kitty', { TERM: 'tmux-256color', KITTY_WINDOW_ID: '1' }, false],
    ['screen in VTE', { TERM: 'screen.xterm', VTE_VERSION: '7600' }, false],
    ['a CI job', { ...XTERM, CI: 'true', TERM_PROGRAM: 'vscode' }, false],
    ['nothing at all', {}, false],
  ])('are shown in %s: %o, %s', (_, environment, takes) => {
    expect(takesLinks(environment)).toBe(takes);
  });

  it.each<[line: string, shown: string]>([
    ['  report    /state/run/report.md', `  report    ${linked('/state/run/report.md')}`],
    ['  report    /a/ü%/x', `  report    ${linked('/a/ü%/x', '/a/%C3%BC%25/x')}`],
    ['/a', linked('/a')],
    ['  at  /a/b, and more', '  at  /a/b, and more'],
    ['  from  https://example.org/a', '  from  https://example.org/a'],
    ['  either/or', '  either/or'],
  ])('stand for a path at the end of a line: %j', (line, shown) => {
    expect(withLink(line)).toBe(shown);
  });

  it('are only made where the screen shows them', () => {
    const screen = { columns: () => undefined, style: PLAIN };
    expect(onScreen(['  at  /a'], screen, [])).toBe('  at  /a');
    expect(onScreen(['  at  /a'], { ...screen, links: true }, [])).toBe(`  at  ${linked('/a')}`);
  });
});
