// @module-tag all
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/model/redaction/redactor.ts';
import { parseObjective } from '../../src/squad/objective/parse-objective.ts';
import { checkPlan, planAnswerSchema } from '../../src/playbooks/delivery/plan-answer.ts';
import { block, inline } from '../../src/view/report/markdown.ts';
import { begin, translate } from '../../src/runtimes/claude/translate.ts';
import { beginCodex, translateCodex } from '../../src/runtimes/codex/translate.ts';
import { beginScripted, translateScripted } from '../../src/runtimes/scripted/translate.ts';
import { limitNotice } from '../../src/runtimes/shared/limit-notice.ts';
import { nativeLine } from '../../src/runtimes/shared/output-reader.ts';
import { parseSettings } from '../../src/squad/settings/parse-settings.ts';
import { pathProblem } from '../../src/text/path-problem.ts';
import { parseRawDiff } from '../../src/substrate/git/raw-diff.ts';
import { plainText } from '../../src/text/plain-text.ts';
import { parseRetryAt } from '../../src/text/retry-at.ts';
import { makeRequest } from '../runtimes/claude/support.ts';
import { requestOf } from '../runtimes/codex/support.ts';
import { KNOWN_NAMES } from '../support/known-names.ts';

const MIB = 1024 * 1024;
/** Parts that make parsers begin again and again. */
const UNITS = [
  ...[
    'a',
    ' ',
    '\n',
    '\t',
    '\r',
    '-',
    '_',
    '.',
    '/',
    '\\',
    '"',
    "'",
    '`',
    '*',
    '[',
    '](',
    '<',
    '&',
    '{',
    '[[',
    '{"a":',
    '(',
    ':',
    '=',
    '#',
    '- [ ] ',
    '> ',
    '\u001b[',
    '\u001b]',
    '\u001bP',
  ],
  ...[
    'eyJ',
    '-eyJa',
    'eyJaaaaaaaa.',
    'sk-ant-',
    'sk-',
    'Bearer ',
    '://',
    '://a:',
    '-----BEGIN PRIVATE KEY-----',
    'AKIA',
    'SG.',
    'xoxb-',
    'M.',
    'AccountKey=',
  ],
  ...[
    'resets 7pm ',
    'Resets in 1h',
    'try again at ',
    'usage limit reached',
    '9',
    '1d ',
    '(Europe/',
    '\u200d',
    '👩\u200d',
    '\ud800',
    'é',
    '日',
    '\0',
    ':0 1 2 3 M\0',
  ],
];

const redactor = createRedactor(['aaaaaaaaaaaaaaaaaaaaaaab', 'known-secret-value', '-eyJa-eyJa-eyJb']);
const claudeLine = (value: unknown) => translate(begin(makeRequest()), { type: 'json', value });
const codexLine = (value: unknown) => translateCodex(beginCodex(requestOf()), { type: 'json', value });

/** Everything that reads what somebody else wrote. */
const PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
  objective: (text) => parseObjective(text, 'o.md'),
  settings: (text) => parseSettings(text, 'squad.yaml', KNOWN_NAMES),
  'retry-at': (text) => parseRetryAt(text, 1_790_000_000_000, 'UTC'),
  'limit-notice': (text) => limitNotice(text, 1_790_000_000_000),
  'line of output': (text) => nativeLine({ type: 'line', text, offset: 0 }),
  'claude, text': (text) =>
    claudeLine({ type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text }] } }),
  'claude, result': (text) =>
    claudeLine({ type: 'result', subtype: 'success', is_error: true, result: text, session_id: 'x' }),
  'codex, text': (text) => codexLine({ type: 'item.completed', item: { id: '1', type: 'agent_message', text } }),
  'codex, error': (text) => codexLine({ type: 'turn.failed', error: { message: text } }),
  scripted: (text) => translateScripted(beginScripted(), { type: 'json', value: { type: 'text', text } }),
  plan: (text) => {
    const tasks = [
      { id: text.slice(0, 100_000), title: text, role: text, needs: [text], brief: text, acceptance: [text] },
    ];
    const answer = planAnswerSchema.safeParse({ summary: text, tasks });
    return answer.success ? checkPlan(answer.data, ['builder']) : answer.error;
  },
  redactor: (text) => redactor.text(text),
  'redactor, in pieces': (text) => {
    const stream = redactor.stream();
    // No more than a sixteenth of a megabyte is ever held.
    for (let at = 0; at < text.length / 4; at += 1000) stream.push(text.slice(at, at + 1000));
    return stream.end();
  },
  plainText,
  inline: (text) => inline(text, 1000),
  block: (text) => block(text.slice(0, MIB / 8)),
  path: pathProblem,
  'git differences': parseRawDiff,
};

describe('S17: time grows with the text, and no faster', () => {
  it.each(Object.entries(PARSERS))(
    'S17: %s',
    (_name, parse) => {
      for (const unit of UNITS) {
        // A quadratic parser takes minutes for a megabyte. What took longer than two seconds needs a comparison.
        const once = time(parse, textOf(unit, MIB));
        if (once < 2000) continue;
        expect(growth(parse, unit), `${JSON.stringify(unit)} took ${Math.round(once)} ms`).toBeLessThanOrEqual(3);
      }
    },
    300_000,
  );

  it('S17: no pattern is made of what a person or a program wrote', () => {
    const source = fileURLToPath(new URL('../../src', import.meta.url));
    const made = readdirSync(source, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => [...readFileSync(join(source, name), 'utf8').matchAll(/\bRegExp\(/g)].map(() => name));
    // Of constants of squad's own: tables of launchers, tools and shapes, words of a notice, kinds of failures, listed forms of commands.
    expect([...new Set(made)].toSorted()).toEqual([
      'model/checker/tools.ts',
      'model/launchers.ts',
      'model/redaction/redactor.ts',
      'rules/logins.ts',
      'rules/people/read-words.ts',
      'runtimes/shared/limit-notice.ts',
    ]);
  });
});

function textOf(unit: string, size: number): string {
  return unit.repeat(Math.floor(size / unit.length));
}

/** Long enough that a collection of garbage is a small part. */
const LONG_ENOUGH_MS = 100;
const MOST_ROUNDS = 8;

/**
 * How much longer twice the text takes: the least of several times each, taken in turn. The texts are so long that the time can
 * be measured.
 */
function growth(parse: (text: string) => unknown, unit: string): number {
  let size = MIB / 2;
  while (size < 16 * MIB && time(parse, textOf(unit, 2 * size)) < LONG_ENOUGH_MS) size *= 2;
  const [half, whole] = [textOf(unit, size), textOf(unit, 2 * size)];
  let [shorter, longer] = [Infinity, Infinity];
  for (let round = 1; round <= MOST_ROUNDS; round += 1) {
    shorter = Math.min(shorter, time(parse, half));
    longer = Math.min(longer, time(parse, whole));
    if (round >= 3 && longer / Math.max(1, shorter) <= 3) break;
  }
  return longer / Math.max(1, shorter);
}

/** In ms of this process's own work: on a busy machine the time on the clock says nothing. */
function time(parse: (text: string) => unknown, text: string): number {
  const start = process.cpuUsage();
  parse(text);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}
