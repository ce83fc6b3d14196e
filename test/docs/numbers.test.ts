import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { defaultSettings } from '../../src/squad/settings/parse-settings.ts';
import { SCHEMA } from '../../src/substrate/ledger/schema.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const text = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const oneLine = (path: string): string => text(path).replaceAll(/\s+/g, ' ');
const { limits } = defaultSettings();

/** The value of a number that a source file names. */
function constant(file: string, name: string): number {
  const [, value = ''] = new RegExp(`\\b${name}(?:: \\w+)? ?[=:] ?([\\d_* ]+)[;,]`).exec(text(`src/${file}`)) ?? [];
  if (value === '') throw new Error(`src/${file} has no number ${name}`);
  return value.split('*').reduce((product, factor) => product * Number(factor.replaceAll('_', '')), 1);
}

const KIB = 1024;
const MIB = KIB * KIB;
const SECOND = 1000;

/** What a page says, and the value that squad has. The page's number is the first group. */
const STATED: readonly (readonly [page: string, says: RegExp, value: number])[] = [
  ['docs/after.md', /The diff ends after ([\d,]+) lines/, constant('cli/commands/show.ts', 'MOST_PATCH')],
  [
    'docs/checks.md',
    /the last (\d+) KiB of its output/,
    constant('engine/checks/command-adapter.ts', 'OUTPUT_BYTES') / KIB,
  ],
  ['docs/checks.md', /at most (three) times per engine/, constant('engine/checks/run-checks.ts', 'MOST_TRIES')],
  ['docs/board.md', /for at most (ten) seconds/, constant('engine/checks/notify-command.ts', 'TIMEOUT_MS') / SECOND],
  ['docs/costs.md', /after USD (\d+),/, limits.usd],
  ['docs/costs.md', /USD \d+, (\d+) turns or/, limits.turns],
  ['docs/costs.md', /or (\d+) minutes of engine time/, limits.minutes],
  ['docs/costs.md', /`parallel` \((\d+)\)/, limits.parallel],
  ['docs/costs.md', /`turnMinutes` \((\d+)\)/, limits.turnMinutes],
  ['docs/costs.md', /`reviewRounds` \((\d+)\)/, limits.reviewRounds],
  ['docs/costs.md', /`retries` \((\d+)\)/, limits.retries],
  [
    'docs/database.md',
    /a ledger of up to (\d+) MB each row/,
    constant('substrate/ledger/require-whole.ts', 'MOST_CHECKED_BYTES') / MIB,
  ],
  ['docs/database.md', /of schema (\d+)/, SCHEMA],
  [
    'docs/mcp.md',
    /at most (\d+) messages, \d+ of them asks/,
    constant('substrate/ledger/mail/send.ts', 'MOST_OF_TURN'),
  ],
  ['docs/mcp.md', /at most \d+ messages, (\d+) of them asks/, constant('substrate/ledger/mail/send.ts', 'MOST_ASKS')],
  ['docs/mcp.md', /a line of more than (\d+) MiB/, constant('cli/mcp/serve-tools.ts', 'MOST_LINE_BYTES') / MIB],
  ['docs/objective-files.md', /the title, at most (\d+) characters/, constant('squad/objective/parts.ts', 'MAX_TITLE')],
  ['docs/objective-files.md', /at most (\d+) characters: `high`/, constant('squad/objective/parts.ts', 'MAX_PRIORITY')],
  [
    'docs/objective-files.md',
    /A file has at most (\d+) KiB/,
    constant('squad/objective/parse-objective.ts', 'MAX_BYTES') / KIB,
  ],
  [
    'docs/objective-files.md',
    /standard input, at most (\d+) MiB/,
    constant('squad/preflight/read-input.ts', 'MOST_BYTES') / MIB,
  ],
  ['docs/settings.md', /and files over (\d+) KiB/, constant('text/yaml-file.ts', 'MAX_BYTES') / KIB],
  [
    'docs/settings.md',
    /a file of the repository, at most (\d+) KiB/,
    constant('squad/preflight/read-input.ts', 'MOST_INSTRUCTIONS') / KIB,
  ],
  ['docs/settings.md', /or more than ([\d,]+) tokens/, constant('runtimes/shared/conclude-turn.ts', 'MOST_TOKENS')],
  ['docs/status.md', /at most (\d+) files, \d+ lines of a file/, constant('view/report/patch.ts', 'MOST_FILES')],
  ['docs/status.md', /files, (\d+) lines of a file/, constant('view/report/patch.ts', 'MOST_LINES')],
  ['docs/status.md', /lines of a file and ([\d,]+) in all/, constant('view/report/patch.ts', 'MOST_ALL')],
  ['docs/threat-model.md', /([\d,]+) tasks, \d+ levels/, constant('model/plan/board.ts', 'tasks')],
  [
    'docs/threat-model.md',
    /(\d+) MiB a line/,
    constant('substrate/system/process/splitter.ts', 'MAX_LINE_BYTES') / MIB,
  ],
  ['docs/threat-model.md', /([\d,]+) lines a turn/, constant('runtimes/shared/watchdog.ts', 'MOST_LINES')],
  ['ARCHITECTURE.md', /(\d+) MB that squad frees/, constant('substrate/ledger/ballast.ts', 'BALLAST_BYTES') / MIB],
];
const WORDS: Readonly<Record<string, number>> = { three: 3, ten: 10 };

describe('numbers that squad has', () => {
  it.each(STATED)('%s says %s', (page, says, value) => {
    const [, said = ''] = says.exec(oneLine(page)) ?? [];
    expect(WORDS[said] ?? Number(said.replaceAll(',', ''))).toBe(value);
  });

  it('the table of limits in docs/settings.md has the defaults', () => {
    const table = text('docs/settings.md').split('## Limits')[1] ?? '';
    const rows = [...table.matchAll(/^\| `(\w+)` \| `?([^|`]+?)`? \|/gm)].map(([, key = '', value = '']) => [
      key,
      value,
    ]);
    const expected = Object.entries(limits).map(([key, value]) => [
      key,
      Array.isArray(value) ? `[${value.join(', ')}]` : JSON.stringify(value),
    ]);
    expect(rows.filter(([, value]) => value !== 'none').slice(0, expected.length)).toEqual(expected);
  });
});

interface RecoveryRow {
  readonly fault: string;
  readonly what: string;
  readonly trials: number;
  readonly reached: number;
  readonly rerun: number;
  readonly lost: number;
  readonly movingMs: { readonly median: number; readonly max: number };
}

describe('numbers that were measured', () => {
  const { rows } = JSON.parse(text('bench/recovery.json')) as { rows: RecoveryRow[] };
  const seconds = (ms: number): string => (ms / SECOND).toFixed(2);
  const cells = ({ fault, what, trials, reached, rerun, lost }: RecoveryRow): string =>
    `| \`${fault}\`: ${what} | ${trials} | ${reached} of ${trials} | ${rerun} | ${lost} |`;
  const moving = ({ movingMs: { median, max } }: RecoveryRow): string => `| ${seconds(median)} / ${seconds(max)} s |`;

  it('README.md and docs/recovery.md have the rows of bench/recovery.json', () => {
    const midTurn = rows.find(({ fault }) => fault === 'mid-turn');
    expect(midTurn).toBeDefined();
    expect(text('README.md')).toContain(`${cells(midTurn!)} ${moving(midTurn!).slice(2)}`);
    const lines = text('docs/recovery.md').split('\n');
    const isThere = (row: RecoveryRow): boolean =>
      lines.some((line) => line.startsWith(cells(row)) && line.includes(moving(row)));
    expect(rows.filter((row) => !isThere(row))).toEqual([]);
  });

  it('docs/testing.md names for each a command that there is, and the page that has it', () => {
    const section = text('docs/testing.md').split('## Numbers in these pages')[1]?.split('\n## ')[0] ?? '';
    const listed = [...section.matchAll(/^\| (.+?) \| (.+?) \| (.+?) \|$/gm)].slice(2);
    expect(listed.length).toBeGreaterThan(5);
    const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> };
    for (const [, , pages = '', makers = ''] of listed) {
      for (const page of pages.split(', ')) expect(text(page)).toMatch(/\d/);
      const commands = [...makers.matchAll(/`npm run ([\w:-]+)/g)].map(([, name = '']) => name);
      expect(commands.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
      for (const [, file = ''] of makers.matchAll(/`(?:node )?([\w/.-]+\.(?:ts|mjs))`/g))
        expect(text(file)).not.toBe('');
      expect(makers).toMatch(/`/);
    }
  });
});
