import { describe, expect, it } from 'vitest';
import { isSquadError } from '../../../src/model/errors.ts';
import { tracingSchema } from '../../../src/model/tracing.ts';
import { traceTarget, type TraceOption, type TraceTarget } from '../../../src/engine/tracing/target.ts';

type Case = readonly [what: string, asked: TraceOption, settings: unknown, environment: Record<string, string>];

const of = (asked: TraceOption, settings: unknown, environment: Record<string, string>): TraceTarget =>
  traceTarget(asked, settings === undefined ? undefined : tracingSchema.parse(settings), environment);

const KEY = { LANGSMITH_API_KEY: 'key' };
const OTEL = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel:4318/', OTEL_EXPORTER_OTLP_HEADERS: 'a=1, b=x%20y' };
const MINE = { to: 'langsmith', endpoint: 'https://mine.example/api/' };

describe('where traces go', () => {
  it.each<[...Case, Partial<TraceTarget>]>([
    ['LangSmith', true, undefined, KEY, { to: 'langsmith', url: 'https://api.smith.langchain.com/runs/batch' }],
    ['its key', true, undefined, KEY, { headers: { 'x-api-key': 'key' }, content: false }],
    [
      'another LangSmith',
      'langsmith',
      undefined,
      { ...KEY, LANGSMITH_ENDPOINT: 'http://a/b/' },
      { url: 'http://a/b/runs/batch' },
    ],
    [
      'a workspace',
      true,
      'langsmith',
      { ...KEY, LANGSMITH_WORKSPACE_ID: 'w' },
      { headers: { 'x-api-key': 'key', 'x-tenant-id': 'w' } },
    ],
    [
      'a project',
      true,
      { to: 'langsmith', project: 'mine' },
      { ...KEY, LANGSMITH_PROJECT: 'other' },
      { project: 'mine' },
    ],
    ['the project of the environment', true, 'langsmith', { ...KEY, LANGSMITH_PROJECT: 'other' }, { project: 'other' }],
    ['OTLP', true, undefined, OTEL, { to: 'otlp', url: 'http://otel:4318/v1/traces', headers: { a: '1', b: 'x y' } }],
    [
      'the endpoint of traces alone',
      'otlp',
      undefined,
      { ...OTEL, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://t/x' },
      { url: 'http://t/x' },
    ],
    ['what the settings name', true, 'otlp', { ...KEY, ...OTEL }, { to: 'otlp' }],
    ['what is asked for', 'otlp', MINE, { ...KEY, ...OTEL }, { url: 'http://otel:4318/v1/traces', content: false }],
    ['content', true, { to: 'otlp', content: true }, OTEL, { content: true }],
    ['no content of other settings', 'langsmith', { to: 'otlp', content: true }, KEY, { content: false }],
    // A repository's endpoint gets no key that it does not name, and a person agrees to each that it names.
    [
      'an endpoint of the settings, without a key',
      true,
      MINE,
      KEY,
      { url: 'https://mine.example/api/runs/batch', headers: {} },
    ],
    ['the same for OTLP', true, { to: 'otlp', endpoint: 'http://mine/t' }, OTEL, { url: 'http://mine/t', headers: {} }],
    [
      'with the key that they name',
      true,
      { ...MINE, headers: { 'X-Api-Key': 'MY' } },
      { ...KEY, MY: 'm' },
      { headers: { 'x-api-key': 'm' } },
    ],
  ])('%s', (_what, asked, settings, environment, expected) => {
    expect(of(asked, settings, environment)).toMatchObject(expected);
    if (expected.headers !== undefined) expect(of(asked, settings, environment).headers).toEqual(expected.headers);
  });

  it.each<[...Case, RegExp]>([
    ['nothing says where', true, undefined, {}, /nothing says where/],
    ['no key', 'langsmith', undefined, OTEL, /needs a key/],
    ['an empty key', 'langsmith', undefined, { LANGSMITH_API_KEY: ' ' }, /needs a key/],
    ['no endpoint', 'otlp', undefined, KEY, /no endpoint/],
    [
      'no address',
      'otlp',
      undefined,
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'file:///etc' },
      /OTEL_EXPORTER_OTLP_ENDPOINT is no address/,
    ],
    ['a variable that is missing', true, { ...MINE, headers: { a: 'GONE' } }, KEY, /the variable GONE/],
    ['a value that no header can have', true, undefined, { LANGSMITH_API_KEY: 'c4n4ry\nb: c' }, /the header x-api-key/],
  ])('is refused: %s', (_what, asked, settings, environment, message) => {
    const refusal = (() => {
      try {
        return of(asked, settings, environment);
      } catch (error) {
        return error;
      }
    })();
    if (!isSquadError(refusal)) throw new Error(`not refused: ${JSON.stringify(refusal)}`);
    expect(refusal).toMatchObject({ code: 'wrong-environment', message: expect.stringMatching(message) as string });
    expect(JSON.stringify(refusal)).not.toContain('c4n4ry');
    expect(refusal.next).toBeTruthy();
  });
});

describe('`tracing` in squad.yaml', () => {
  it('is short for a mapping', () => expect(tracingSchema.parse('otlp')).toEqual({ to: 'otlp', content: false }));

  it.each([
    'jaeger',
    {},
    { to: 'otlp', endpoint: 'ftp://a' },
    { to: 'otlp', endpoint: 'https://me:secret@a/b' },
    { to: 'otlp', headers: { 'a b': 'X' } },
    { to: 'otlp', headers: { a: 'a value' } },
    { to: 'langsmith', project: ' ' },
    { to: 'langsmith', contents: true },
    { to: 'otlp', content: 'yes' },
  ])('refuses %j', (given) => expect(tracingSchema.safeParse(given).success).toBe(false));
});
