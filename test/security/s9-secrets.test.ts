import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactTurn } from '../../src/engine/attempts/redact-turn.ts';
import { createRedactor, REDACTED, redactorOf, TOKEN_PATTERNS } from '../../src/model/redaction/redactor.ts';
import { formsOf, secretValues } from '../../src/model/redaction/secret-values.ts';
import type { TurnEvent } from '../../src/model/turn-event.ts';
import type { TurnResult } from '../../src/model/turn-result.ts';
import { tokenSamples } from './tokens.ts';
import { ALL } from '../support/lane.ts';

const SECRET = 'c4n4ry/"quoted"+& %ü-7f3a';

describe('S9: values that are known', () => {
  const redactor = createRedactor([SECRET]);

  it.each([
    ['as it is', SECRET],
    ['in JSON', JSON.stringify({ key: SECRET })],
    ['in JSON within JSON', JSON.stringify(JSON.stringify({ key: SECRET }))],
    ['in JSON with escaped slashes', JSON.stringify(SECRET).replaceAll('/', '\\/')],
    ['in an address', `https://x.test/?q=${encodeURIComponent(SECRET)}&r`],
    ['in a form', `q=${encodeURIComponent(SECRET).replaceAll('%20', '+')}`],
    ['in base64', Buffer.from(SECRET).toString('base64')],
    ['in base64, after one byte', Buffer.from(`:${SECRET}`).toString('base64')],
    ['in base64, after two bytes and before some', Buffer.from(`u:${SECRET} and on`).toString('base64')],
    ['in base64 for addresses', Buffer.from(`user:${SECRET}`).toString('base64url')],
    ['in hexadecimal', Buffer.from(SECRET).toString('hex')],
    ['in capital hexadecimal', Buffer.from(SECRET).toString('hex').toUpperCase()],
  ])('S9: is found %s', (_how, text) => {
    const redacted = redactor.text(`before ${text} after`);
    expect(redacted).toContain(REDACTED);
    expect(redacted.startsWith('before ')).toBe(true);
    expect(redacted.endsWith(' after')).toBe(true);
    for (const form of formsOf(SECRET)) expect(redacted).not.toContain(form);
  });

  it('S9: keys, depths and lists of JSON are looked through, and nothing else of it changes', () => {
    const value = { [SECRET]: [1, null, true, { deep: [`x${SECRET}x`] }], text: 'plain', none: undefined };
    expect(redactor.json(value)).toEqual({
      [REDACTED]: [1, null, true, { deep: [`x${REDACTED}x`] }],
      text: 'plain',
      none: undefined,
    });
    expect(value[SECRET]).toBeDefined();
    const polluting: unknown = JSON.parse(`{"__proto__":{"a":${JSON.stringify(SECRET)}}}`);
    expect(JSON.stringify(redactor.json(polluting))).toBe(`{"__proto__":{"a":"${REDACTED}"}}`);
    expect({}).not.toHaveProperty('a');
  });

  it('S9: an answer that is nested deeper than the stack is looked through as well', () => {
    let deep: unknown = SECRET;
    for (let level = 0; level < 200_000; level += 1) deep = [deep];
    let redacted: unknown = redactor.json(deep);
    while (Array.isArray(redacted)) redacted = redacted[0] as unknown;
    expect(redacted).toBe(REDACTED);
  });

  it('S9: each line of a key is one of its forms, and short values are none', () => {
    const key = [
      '-----BEGIN OPENSSH PRIVATE KEY-----',
      'b3BlbnNzaC1rZXktdjEAAAAA',
      'AAAEbm9uZQAAAAAAAAABAAAAMwAAAAt',
    ].join('\n');
    expect(createRedactor([key]).text('> b3BlbnNzaC1rZXktdjEAAAAA <')).toBe(`> ${REDACTED} <`);
    expect(createRedactor(['short']).text('short')).toBe('short');
    expect(formsOf('1234567')).not.toContain('1234567');
  });

  it('S9: which values of an environment are secrets', () => {
    const environment = {
      ...{
        OPENAI_API_KEY: 'value-one-1',
        GITHUB_TOKEN: 'value-two-2',
        DB_PASSWORD: 'value-three',
        my_secret: ' value-four ',
      },
      ...{ PASSTHROUGH: 'value-five', CUSTOM: 'value-six', HTTPS_PROXY_AUTH: 'value-seven' },
      ...{ SHORT_TOKEN: 'short', PATH: '/usr/bin:/bin', HOME: '/home/someone', PWD: '/somewhere/else' },
      ...{
        ANTHROPIC_BASE_URL: 'https://proxy.test',
        AWS_REGION: 'eu-central-1',
        SERVICE_PASSWORD: 'postgres',
        KEYBOARD: 'qwertz-layout',
        SSH_AUTH_SOCK: '/tmp/agent.sock',
        API_TOKEN_FILE: '/run/secrets/token',
      },
      ...{ EMPTY_KEY: '', GONE_KEY: undefined },
    };
    expect(secretValues(environment, ['CUSTOM', 'ANTHROPIC_BASE_URL', 'AWS_REGION', 'SHORT_TOKEN'])).toEqual([
      ...['value-one-1', 'value-two-2', 'value-three', 'value-four', 'value-six', 'value-seven'],
    ]);
  });
});

describe('S9: what looks like a credential', () => {
  const redactor = createRedactor([]);

  it('S9: has at least 30 shapes, and an example of each', () => {
    expect(Object.keys(TOKEN_PATTERNS).length).toBeGreaterThanOrEqual(30);
    expect(Object.keys(tokenSamples()).toSorted()).toEqual(Object.keys(TOKEN_PATTERNS).toSorted());
  });

  it.each(Object.entries(tokenSamples()))('S9: a %s is found wherever it stands', (_name, { token, kept = '' }) => {
    for (const [before, after] of [
      ['', ''],
      ['at ', ' end'],
      ['"', '"'],
      ['KEY=', '\n'],
      ['(', ')'],
      ['x: ', ', y'],
    ]) {
      expect(redactor.text(`${before}${token}${after}`)).toBe(`${before}${kept}${REDACTED}${after}`);
    }
  });

  it.each([
    'sk-fading-circle-wrapper',
    'src/sk-admin-dashboard-component-styles.css',
    'lib/glagent-some-long-file-name-here.ts',
    'xoxb-hello-world-file',
    'MembershipInvitationsService.delete.mockResolvedValueOnceWithNothing()',
    'SG.SomeLongNamespaceName.AnotherLongNamespace',
    'hvs.someVeryLongPropertyNameOfObject',
    '`https://${user}:${password}@${host}`',
    'risk-assessment-of-the-whole-thing',
    'the bearer of this letter',
    'https://localhost:3000/a@b',
    'https://github.com/owner/name.git',
    'git@github.com:owner/name.git',
    'ghp_short',
    'AKIA',
    'a'.repeat(500),
    'eyJ.eyJ.x',
    '0123456789abcdef0123456789abcdef01234567',
    'f47ac10b-58cc-4372-a567-0e02b2c3d479',
    'const token: TokenType = read();',
    'password = getPassword()',
    '-----BEGIN CERTIFICATE-----',
    'npm_config_registry',
    'xoxo',
    'src/SK.ts',
    'hf_hub_download',
  ])('S9: %j is none', (text) => {
    expect(redactor.text(text)).toBe(text);
  });
});

describe('S9: values that another process knows', () => {
  const redactor = createRedactor([], createRedactor([SECRET]).fingerprints());

  it('S9: are found in every form, by fingerprints that hold none of them', () => {
    const fingerprints = JSON.stringify(createRedactor([SECRET]).fingerprints());
    for (const form of formsOf(SECRET)) {
      expect(fingerprints).not.toContain(form);
      expect(redactor.text(form)).toBe(REDACTED);
      expect(redactor.text(`ab${form}${form} c`)).toBe(`ab${REDACTED} c`);
      expect(redactor.text(form.slice(1))).toBe(createRedactor([SECRET]).text(form.slice(1)));
    }
  });

  it('S9: they find what whoever knows the value finds, and nothing else', ALL, () => {
    const part = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(SECRET, SECRET.slice(0, -1), ...formsOf(SECRET)),
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const text = parts.join('');
        expect(redactor.text(text)).toBe(createRedactor([SECRET]).text(text));
      }),
    );
  });

  it('S9: a salt of their own makes those of each turn others', () => {
    const [first, second] = [0, 1].map(() =>
      createRedactor([SECRET])
        .fingerprints()
        .marks.map(([, , digest]) => digest),
    );
    expect(first?.length).toBeGreaterThan(3);
    expect(first?.filter((digest) => second?.includes(digest))).toEqual([]);
  });
});

describe('S9: texts that come in pieces', () => {
  const tokens = Object.values(tokenSamples()).map(({ token }) => token);
  const words = fc.constantFrom('one ', 'two\n', 'a/b.ts:12 ', '{"x": "', '", ', 'ü', ' ');
  const part = fc.oneof(
    { weight: 4, arbitrary: words },
    fc.constantFrom(...tokens, SECRET, ...formsOf(SECRET)).map((secret) => ` ${secret} `),
  );

  it('S9: wherever they are cut, they say what the whole says', () => {
    const redactor = createRedactor([SECRET]);
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 200 }),
        fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 30 }),
        (parts, sizes) => {
          const text = parts.join('');
          const stream = redactor.stream();
          let out = '';
          for (let at = 0, turn = 0; at < text.length; turn += 1) {
            const size = sizes[turn % sizes.length] ?? 1;
            out += stream.push(text.slice(at, at + size));
            at += size;
          }
          expect(out + stream.end()).toBe(redactor.text(text));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('S9: a value is found in a text without an end and without a space too', () => {
    const secret = 'c4n4ry-in-one-word-7f3a';
    const redactor = createRedactor([secret]);
    const one = `${'x'.repeat(9)}${secret}`;
    // Wherever it stands to what is held back.
    for (let lead = 0; lead < one.length; lead += 1) {
      const stream = redactor.stream();
      const text = 'x'.repeat(lead) + one.repeat(Math.ceil(140_000 / one.length));
      let out = '';
      for (let at = 0; at < text.length; at += 1000) out += stream.push(text.slice(at, at + 1000));
      expect(out + stream.end() === redactor.text(text), `after ${lead} characters`).toBe(true);
    }
  });

  it('S9: what is ready is told before the end, and no more than a little is held back', () => {
    const stream = createRedactor([SECRET]).stream();
    let told = 0;
    let held = 0;
    for (let index = 0; index < 20_000; index += 1) {
      told += stream.push('some words ').length;
      held = Math.max(held, (index + 1) * 11 - told);
    }
    expect(held).toBeLessThan(4096);
    let endless = 0;
    for (let index = 0; index < 200; index += 1) endless += stream.push('x'.repeat(1000)).length;
    expect(endless).toBeGreaterThan(50_000);
  });

  it('S9: events of a turn: pieces, whole texts and results, and the session as it is', async () => {
    const events: TurnEvent[] = [];
    const redaction = redactTurn(createRedactor([SECRET]), (event) => events.push(event));
    const [first, second] = [SECRET.slice(0, 9), SECRET.slice(9)];
    for (const text of ['Hello ', first, second, ' and on'])
      redaction.onEvent({ at: 1, type: 'text', delta: true, text });
    redaction.onEvent({
      at: 2,
      type: 'tool-started',
      id: 'x',
      tool: 'run',
      kind: 'execute',
      input: { argv: ['echo', SECRET] },
    });
    redaction.onEvent({ at: 3, type: 'text', delta: true, text: `last ${first}` });
    const session = { runtime: 'scripted', id: `id-${SECRET}`, home: '/x', workspace: '/y', instructionsHash: 'z' };
    const result: TurnResult = {
      ...{
        outcome: 'failed',
        session,
        text: SECRET,
        structured: { a: SECRET },
        stderrTail: `x ${SECRET}`,
        durationMs: 1,
      },
      denials: [{ tool: 'run', message: SECRET }],
      failure: { kind: 'crashed', message: `it said ${SECRET}`, mayHaveActed: true },
    };
    const turn = redaction.turn({
      result: Promise.resolve(result),
      cancel: () => Promise.resolve(result),
      detach: () => Promise.resolve(),
      activity: () => ({ lastSignOfLifeAt: 7, openTools: 0 }),
    });
    for (const ended of [await turn.result, await turn.cancel('x')]) {
      expect(JSON.stringify({ ...ended, session: undefined })).not.toContain(SECRET.slice(0, 7));
      expect(ended).toMatchObject({ session, text: REDACTED, structured: { a: REDACTED }, durationMs: 1 });
    }
    expect(turn.activity()).toEqual({ lastSignOfLifeAt: 7, openTools: 0 });
    expect(events).toEqual([
      { at: 1, type: 'text', delta: true, text: `Hello ${REDACTED} and on` },
      { at: 2, type: 'tool-started', id: 'x', tool: 'run', kind: 'execute', input: { argv: ['echo', REDACTED] } },
      { at: 3, type: 'text', delta: true, text: `last ${first}` },
    ]);
  });
});

it.each(['Bearer', 'basic', 'Token'])(
  'S9 knows the secret in the value of a header without its scheme: %s',
  (scheme) => {
    const redactor = redactorOf({ DESK_HEADER: `${scheme} plainwordsecret` }, ['DESK_HEADER']);
    expect(redactor.text('refused: plainwordsecret')).toBe(`refused: ${REDACTED}`);
    expect(redactorOf({ DESK_HEADER: 'Some plainwordsecret' }, ['DESK_HEADER']).text('plainwordsecret')).not.toBe(
      REDACTED,
    );
  },
);
