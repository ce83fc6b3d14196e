import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createOutput, printResult } from '../../src/cli/output.ts';
import { localeOf } from '../../src/cli/render/ascii.ts';

const REDACTOR = { text: (text: string) => text.replaceAll('s3cret', '[redacted]'), json: <T>(value: T): T => value };

function stream(of: { isTTY?: boolean; columns?: number; rows?: number; fails?: string } = {}) {
  const written: string[] = [];
  const own = new Writable({
    decodeStrings: false,
    write: (part: string, _, done) => {
      written.push(part);
      done(of.fails === undefined ? null : Object.assign(new Error('it failed'), { code: of.fails }));
    },
  });
  return { written, stream: Object.assign(own, of) as unknown as NodeJS.WriteStream };
}

describe('a terminal for a board', () => {
  const tty = { isTTY: true };
  it.each([
    ['is where results and problems go', tty, tty, 'xterm', true],
    ['is not where results are piped on', {}, tty, 'xterm', false],
    ['is not where problems go to a file', tty, {}, 'xterm', false],
    ['is not one that only prints', tty, tty, 'dumb', false],
    ['may be of a kind that nothing is known of', tty, tty, undefined, true],
  ])('%s', (_, stdout, stderr, term, isThere) => {
    const output = createOutput(stream(stdout).stream, stream(stderr).stream, REDACTOR, term);
    expect(output.terminal !== undefined).toBe(isThere);
  });

  it('has some size, even if it does not say one', () => {
    const sizeOf = (of: object) =>
      createOutput(stream({ isTTY: true, ...of }).stream, stream({ isTTY: true }).stream, REDACTOR).terminal?.size();
    expect(sizeOf({ columns: 120, rows: 40 })).toEqual({ columns: 120, rows: 40 });
    // As script(1) without a terminal of its own.
    expect(sizeOf({ columns: 0, rows: 0 })).toEqual({ columns: 80, rows: 24 });
  });

  it('gets every line that is printed while a board has it, and nothing of a secret', () => {
    const [out, err] = [stream({ isTTY: true }), stream({ isTTY: true })];
    const output = createOutput(out.stream, err.stream, REDACTOR);
    const taken: string[] = [];
    output.line('before');
    const end = output.terminal!.divert((text) => taken.push(text));
    output.line('a s3cret');
    output.problem('a problem');
    output.terminal!.write('a frame with a s3cret');
    end();
    output.problem('after');
    expect(taken).toEqual(['a [redacted]', 'a problem']);
    expect(out.written).toEqual(['before\n', 'a frame with a [redacted]']);
    expect(err.written).toEqual(['after\n']);
  });
});

describe('a problem', () => {
  it.each([
    ['is broken between words on a terminal', { isTTY: true, columns: 20 }, 'note: one two three\nfour five\n'],
    ['is one line in a file', { columns: 20 }, 'note: one two three four five\n'],
  ])('%s', (_, of, written) => {
    const err = stream(of);
    createOutput(stream().stream, err.stream, REDACTOR).problem('note: one two three four five');
    expect(err.written.join('')).toBe(written);
  });
});

describe('a line', () => {
  const text = 'squad     planner (scripted), reviewer';
  it.each([
    [
      'is broken between words on a terminal',
      { isTTY: true, columns: 30 },
      'squad     planner (scripted),\n          reviewer\n',
    ],
    ['is one line in a file', { columns: 30 }, `${text}\n`],
  ])('%s', (_, of, written) => {
    const out = stream(of);
    createOutput(out.stream, stream().stream, REDACTOR).line(text);
    expect(out.written.join('')).toBe(written);
  });

  it('that people copy stays as it is, without a secret', () => {
    const out = stream({ isTTY: true, columns: 20 });
    createOutput(out.stream, stream().stream, REDACTOR).line(
      'ExecStart=/usr/bin/node /opt/squad serve s3cret',
      'exact',
    );
    expect(out.written.join('')).toBe('ExecStart=/usr/bin/node /opt/squad serve [redacted]\n');
  });
});

describe('a terminal without UTF-8', () => {
  it('gets JSON that any reader takes', () => {
    const out = stream({ isTTY: true });
    const output = createOutput(out.stream, stream({ isTTY: true }).stream, REDACTOR, 'xterm', 'C');
    const value = { why: 'the heading “Goals” is missing 日' };
    output.json(value);
    expect(out.written.join('')).toMatch(/^[\u0000-\u007f]+$/);
    expect(JSON.parse(out.written.join(''))).toEqual(value);
  });

  const frame = '\u001b[32m◉ Spec Review…\u001b[0m  ✓ done ─ 日本 e\u0301 “a”';
  it.each([
    ['C', '\u001b[32m* Spec Review~\u001b[0m  v done - ???? e "a"'],
    ['de_DE.ISO-8859-1', '\u001b[32m* Spec Review~\u001b[0m  v done - ???? e "a"'],
    ['C.UTF-8', frame],
    ['en_US.utf8', frame],
    ['en_US', frame],
    [undefined, frame],
  ])('is one by its locale: %s', (locale, shown) => {
    const out = stream({ isTTY: true });
    const output = createOutput(out.stream, stream({ isTTY: true }).stream, REDACTOR, 'xterm', locale);
    output.terminal!.write(frame);
    output.line(frame);
    expect(out.written).toEqual([shown, `${shown}\n`]);
  });

  it('changes nothing for a program that reads', () => {
    const out = stream();
    createOutput(out.stream, stream().stream, REDACTOR, 'xterm', 'C').line(frame);
    expect(out.written).toEqual([`${frame}\n`]);
  });

  it.each([
    [{ LANG: 'C.UTF-8' }, 'C.UTF-8'],
    [{ LANG: 'C.UTF-8', LC_ALL: 'C' }, 'C'],
    [{ LANG: 'C', LC_ALL: '', LC_CTYPE: 'en_US.UTF-8' }, 'en_US.UTF-8'],
    [{}, undefined],
  ])('%j: %s', (environment, locale) => {
    expect(localeOf(environment)).toBe(locale);
  });
});

describe('a stream that fails', () => {
  it.each([
    ['a reader that has seen enough is no problem', 'EPIPE', []],
    ['a full disk is one, and is said once', 'ENOSPC', ['squad: the output could not be written: it failed\n']],
  ])('%s', async (_, fails, said) => {
    const [out, err] = [stream({ fails }), stream()];
    const output = createOutput(out.stream, err.stream, REDACTOR);
    printResult(output, {}, {}, ['one']);
    await new Promise(setImmediate);
    printResult(output, {}, {}, ['two', 'three']);
    await new Promise(setImmediate);
    expect(out.written).toEqual(['one\n']);
    expect(err.written).toEqual(said);
  });
});

describe('the lines of a result', () => {
  const long = 'Next: say what you want: `squad run "…"`, or write it into objective.md and `squad run objective.md`';
  const command = 'again  git branch squad/greeting refs/squad/greeting/delivered-2a306d4aaf32';
  const printed = (of: object) => {
    const { written, stream: stdout } = stream(of);
    printResult(createOutput(stdout, stream().stream, REDACTOR), {}, {}, [long, command]);
    return written.join('').trimEnd().split('\n');
  };

  it('are wrapped between words at a terminal, where commands stay whole', () => {
    const [first, second, ...rest] = printed({ isTTY: true, columns: 60 });
    expect([`${first} ${second?.trimStart()}`, ...rest]).toEqual([long, command]);
    expect(first?.length).toBeLessThanOrEqual(60);
  });

  it('stay as they are for programs and files', () => {
    expect(printed({})).toEqual([long, command]);
  });
});
