// @module-tag all
import { describe, expect, it } from 'vitest';
import { startHost } from '../../support/acp-host.ts';
import { some, SPREAD } from '../../support/lane.ts';

const play = (...steps: object[]) => ({ turns: [{ steps: [...steps, { say: 'done' }] }] });
const noises = (lines: readonly Readonly<Record<string, unknown>>[]) => lines.filter(({ type }) => type === 'noise');
const permissions = (lines: readonly Readonly<Record<string, unknown>>[]) =>
  lines.filter(({ type }) => type === 'permission');

describe('an agent that does not open', () => {
  it.each(
    some<[string, object, object, object]>(
      [
        [
          'is not there',
          {},
          { command: '/nonexistent/agent', args: [] },
          { at: 'spawn', setting: 'command', message: expect.stringContaining('ENOENT') },
        ],
        [
          'has arguments that are too long',
          {},
          { args: ['x'.repeat(200_000)] },
          { at: 'spawn', message: expect.stringContaining('E2BIG') },
        ],
        ['has arguments that cannot be', {}, { args: ['a\0b'] }, { at: 'spawn', setting: 'command' }],
        [
          'prints a banner and waits',
          {},
          { command: '/bin/sh', args: ['-c', 'echo Welcome; echo Log in: >&2; sleep 60'], limits: { openMs: 700 } },
          {
            at: 'initialize',
            message: expect.stringContaining('did not answer within 0.7 s'),
            said: expect.stringMatching(/Welcome[^]*Log in|Log in[^]*Welcome/),
          },
        ],
        [
          'dies at its start',
          {},
          { command: '/bin/sh', args: ['-c', 'echo no key >&2; exit 3'] },
          { at: 'initialize', message: expect.stringContaining('exit code 3'), said: 'no key\n' },
        ],
        [
          'dies in initialize',
          { on: { initialize: [{ stderr: 'broken\n' }, { exit: 7 }] } },
          {},
          { at: 'initialize', message: expect.stringContaining('exit code 7'), said: 'broken\n' },
        ],
        [
          'speaks another version',
          { initialize: { protocolVersion: 2 } },
          {},
          { at: 'initialize', message: expect.stringContaining('answered with 2') },
        ],
        ['has no version', { initialize: { protocolVersion: null } }, {}, { at: 'initialize' }],
        [
          'is silent in initialize',
          { on: { initialize: [{ hang: true }] } },
          { limits: { openMs: 700 } },
          { at: 'initialize' },
        ],
        [
          'is silent in session/new',
          { on: { new: [{ hang: true }] } },
          { limits: { openMs: 1500 } },
          { at: 'session', message: expect.stringContaining('(session/new)') },
        ],
        [
          'wants a login',
          { auth: 'key', initialize: { authMethods: [{ id: 'key' }] } },
          {},
          { at: 'authenticate', code: -32000 },
        ],
        [
          'has no such login',
          { initialize: { authMethods: [{ id: 'key' }] } },
          { auth: 'other' },
          { at: 'authenticate', setting: 'auth', message: expect.stringContaining('there are: key') },
        ],
        [
          'logs in by browser',
          { initialize: { authMethods: [{ id: 'oauth-personal' }] } },
          { auth: 'oauth-personal' },
          { at: 'authenticate', setting: 'auth', message: expect.stringContaining('needs a person') },
        ],
        [
          'logs in at a terminal',
          { initialize: { authMethods: [{ id: 'x', type: 'terminal' }] } },
          { auth: 'x' },
          { at: 'authenticate', setting: 'auth' },
        ],
        [
          'has no such model',
          { session: { models: { availableModels: [{ modelId: 'small' }] } } },
          { model: 'large' },
          { at: 'options', setting: 'model', message: expect.stringContaining('it has: small') },
        ],
        [
          'has no models',
          {},
          { model: 'large' },
          { at: 'options', setting: 'model', message: expect.stringContaining('it has: none') },
        ],
        ['knows no such session', {}, { session: { id: 'gone' } }, { at: 'session', code: -32002 }],
        [
          'resumes nothing',
          { initialize: { agentCapabilities: { loadSession: false, sessionCapabilities: {} } } },
          { session: { id: 'gone' } },
          { at: 'session' },
        ],
        ['names a session with a control character', { session: { sessionId: 'a\u0007' } }, {}, { at: 'session' }],
        [
          'takes no HTTP',
          { initialize: { agentCapabilities: { mcpCapabilities: {} } } },
          { mcp: [{ name: 'web', transport: { type: 'http', url: 'http://127.0.0.1:9', headers: {} } }] },
          { at: 'session', setting: 'mcp' },
        ],
      ],
      8,
    ),
  )('%s', SPREAD, async (_what, script, plan, wanted) => {
    const { code, last, lines } = await startHost({ ...play(), ...script }, plan).ended;
    expect(last).toMatchObject({ type: 'error', ...wanted });
    expect(code).toBe(1);
    expect(lines.filter(({ type }) => type === 'error' || type === 'result')).toHaveLength(1);
    expect(lines.filter(({ type }) => type === 'prompted')).toEqual([]);
  });
});

describe('lines that are no part of the conversation', () => {
  it.each(
    some<[string, object, unknown[]]>(
      [
        ['prose', { raw: 'hello\n' }, [{ type: 'noise', what: 'not-json', count: 1 }]],
        ['a number', { raw: '1\n[]\n' }, [{ type: 'noise', what: 'bad-line', count: 1 }]],
        ['an id of another kind', { raw: '{"id":{},"method":"x"}\n' }, [{ type: 'noise', what: 'bad-line', count: 1 }]],
        [
          'an answer to nothing',
          { replyTo: { id: 99, result: {} } },
          [{ type: 'noise', what: 'unknown-answer', count: 1 }],
        ],
        ['a second answer', { replyTo: { id: 1, result: {} } }, [{ type: 'noise', what: 'second-answer', count: 1 }]],
        [
          'another session',
          { notify: { method: 'session/update', params: { sessionId: 'b', update: {} } } },
          [{ type: 'noise', what: 'other-session', count: 1 }],
        ],
        ['an update of nothing', { update: null }, [{ type: 'noise', what: 'bad-line', count: 1 }]],
        [
          'invalid UTF-8',
          { bytes: Buffer.from([0xff, 0xfe, 0x7b, 0x0a]).toString('base64') },
          [{ type: 'noise', what: 'not-json', count: 1 }],
        ],
        ['10 MB in one line', { line: 10_000_000 }, [{ type: 'noise', what: 'too-long', count: 1 }]],
        ['half a line of 10 MB', { line: 10_000_000, sound: false }, [{ type: 'noise', what: 'too-long', count: 1 }]],
        ['an unknown notification', { notify: { method: '_x/y', params: [] } }, []],
      ],
      5,
    ),
  )('%s', SPREAD, async (_what, step, wanted) => {
    const { last, lines } = await startHost(play(step)).ended;
    expect(last).toMatchObject({ type: 'result', text: 'done' });
    expect(noises(lines)).toEqual(wanted);
  });

  it('counts a flood of them in few lines', async () => {
    const { last, lines } = await startHost(play({ raw: 'x\n'.repeat(20_000) })).ended;
    expect(last).toMatchObject({ type: 'result' });
    expect(noises(lines).map(({ count }) => count)).toEqual([1, 10, 100, 1000, 10_000]);
  });

  it('cuts what is larger than a line may be', async () => {
    const deep = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}}}\n`;
    const many = {
      sessionUpdate: 'tool_call_update',
      toolCallId: 'c',
      rawOutput: Array.from({ length: 3000 }, () => ['y'.repeat(100)]),
    };
    const run = startHost({
      ...play({ line: 3_000_000 }, { update: many }, { raw: deep }),
      session: { sessionId: 's' },
    });
    const { last, lines } = await run.ended;
    expect(last).toMatchObject({ type: 'result', text: 'done' });
    const cut = lines.filter((line) => line['cut'] === true);
    expect(cut).toMatchObject([
      { update: { sessionUpdate: 'agent_thought_chunk' } },
      { update: { sessionUpdate: 'tool_call_update', toolCallId: 'c' } },
      { update: { sessionUpdate: 'plan' } },
    ]);
    for (const line of lines) expect(Buffer.byteLength(JSON.stringify(line))).toBeLessThan(256 * 1024);
  });
});

it('passes on the first megabyte of stderr, and keeps its end for an error', async () => {
  const run = startHost(
    play(...Array.from({ length: 30 }, () => ({ stderr: 'x'.repeat(100_000) })), { stderr: 'end' }, { exit: 1 }),
  );
  const { last } = await run.ended;
  expect(run.stderr()).toBeGreaterThan(900_000);
  expect(run.stderr()).toBeLessThanOrEqual(1024 * 1024);
  expect(String(last['said'])).toMatch(/^x{2045}end$/);
});

describe('requests for permission', () => {
  const EDIT = { kind: 'edit', locations: [{ path: 'a.txt' }] };
  it.each(
    some<[string, object, string]>(
      [
        ['an edit', { ask: EDIT }, 'allowed'],
        ['no options', { ask: EDIT, options: [] }, 'rejected'],
        ['options that are none', { ask: EDIT, options: 'allow_once' }, 'rejected'],
        ['a missing list of options', { ask: EDIT, options: null }, 'rejected'],
        ['kinds that are new', { ask: EDIT, options: [{ optionId: 'a', kind: 'allow_today' }] }, 'rejected'],
        ['a control character', { ask: EDIT, options: [{ optionId: 'a\u0000', kind: 'allow_once' }] }, 'rejected'],
        ['only a lasting one', { ask: EDIT, options: [{ optionId: 'a', kind: 'allow_always' }] }, 'rejected'],
        ['another session', { ask: EDIT, sessionId: 'other' }, 'rejected'],
        ['no session', { ask: EDIT, sessionId: null }, 'rejected'],
        [
          'a kind that is no text',
          { ask: { ...EDIT, kind: { toString: 1 }, title: ['x'], toolCallId: {} } },
          'rejected',
        ],
        ['a file outside', { ask: { ...EDIT, rawInput: { path: '/etc/passwd' } } }, 'rejected'],
      ],
      5,
    ),
  )('%s', SPREAD, async (_what, step, wanted) => {
    const run = startHost(play(step));
    const { last, lines } = await run.ended;
    expect(last).toMatchObject({ type: 'result' });
    expect(permissions(lines)).toMatchObject([{ answer: wanted, by: 'policy', reason: expect.any(String) }]);
    const [, answered] = run.noted('asked.jsonl');
    expect(answered?.['tookMs']).toBeLessThan(1000);
    const given = JSON.stringify(answered?.['result']).includes('allow');
    expect(given).toBe(wanted === 'allowed');
  });

  it('of 10 MB are rejected, not left unanswered', async () => {
    const big = {
      jsonrpc: '2.0',
      id: 'big',
      method: 'session/request_permission',
      params: { x: 'y'.repeat(10_000_000) },
    };
    const run = startHost(play({ raw: `${JSON.stringify(big)}\n` }, { sleep: 300 }));
    const { lines } = await run.ended;
    expect(permissions(lines)).toMatchObject([{ id: 'big', answer: 'rejected', reason: 'it is too large to judge' }]);
    expect(run.noted('asked.jsonl')).toMatchObject([
      { answerTo: 'big', result: { outcome: { outcome: 'cancelled' } } },
    ]);
  });

  it('before a prompt are rejected', async () => {
    const run = startHost({ ...play(), on: { new: [{ ask: EDIT }] } });
    const { last, lines } = await run.ended;
    expect(last).toMatchObject({ type: 'result' });
    expect(permissions(lines)).toMatchObject([{ answer: 'rejected', reason: 'it belongs to no prompt of this turn' }]);
  });

  it('of which a thousand come at once are all answered', async () => {
    const asks = Array.from({ length: 1000 }, () => ({ ask: EDIT, wait: false }));
    const run = startHost(play(...asks, { sleep: 1000 }));
    const { last, lines } = await run.ended;
    expect(last).toMatchObject({ type: 'result' });
    expect(permissions(lines)).toHaveLength(1000);
    expect(run.noted('asked.jsonl').filter(({ answerTo }) => answerTo !== undefined)).toHaveLength(1000);
  });
});

describe('the end of an agent', () => {
  it.each(
    some<[string, object[], object, object]>(
      [
        [
          'before its result',
          [{ say: 'x' }, { stderr: 'fatal\n' }, { exit: 5 }],
          {},
          { type: 'error', at: 'agent', message: expect.stringContaining('exit code 5'), said: 'fatal\n' },
        ],
        [
          'by a signal',
          [{ kill: 'SIGKILL' }],
          {},
          { type: 'error', at: 'agent', message: expect.stringContaining('SIGKILL') },
        ],
        [
          'with descendants that hold its pipes',
          [{ children: 2, apart: true }, { exit: 5 }],
          {},
          { type: 'error', at: 'agent' },
        ],
        [
          'with an error',
          [{ error: { code: -32603, message: '429 Too Many Requests', data: { errorKind: 'rate_limit' } } }],
          {},
          {
            type: 'error',
            at: 'prompt',
            code: -32603,
            message: '429 Too Many Requests',
            data: { errorKind: 'rate_limit' },
          },
        ],
        [
          'between answer and exit',
          [{ reply: { stopReason: 'end_turn' } }, { exit: 5 }],
          {},
          { type: 'result', stopReason: 'end_turn' },
        ],
        ['with no stop reason', [{ reply: {} }, { hang: true }], {}, { type: 'error', at: 'prompt' }],
        ['with another stop reason', [{ stop: 'refusal' }], {}, { type: 'result', stopReason: 'refusal' }],
        [
          'with two answers',
          [{ reply: { stopReason: 'refusal' } }, { reply: { stopReason: 'end_turn' } }],
          {},
          { type: 'result', stopReason: 'refusal' },
        ],
      ],
      4,
    ),
  )('%s', SPREAD, async (_what, steps, plan, wanted) => {
    const run = startHost(play(...steps), plan);
    const { last, lines } = await run.ended;
    expect(last).toMatchObject(wanted);
    expect(lines.filter(({ type }) => type === 'error' || type === 'result')).toHaveLength(1);
  });

  it('is made if it does not end by itself', async () => {
    const run = startHost({ turns: [{ steps: [{ deaf: true }, { say: 'x' }] }] });
    const before = Date.now();
    const { code, last } = await run.ended;
    expect([code, last]).toMatchObject([0, { type: 'result' }]);
    expect(Date.now() - before).toBeLessThan(8_000);
  });
});

describe('a signal', () => {
  it.each<[string, object, object]>([
    ['in a text', { hang: true }, { type: 'result', stopReason: 'cancelled' }],
    ['in a tool', { run: ['sleep', '60'] }, { type: 'result', stopReason: 'cancelled' }],
  ])('SIGINT %s', async (_where, step, wanted) => {
    const run = startHost(play({ say: 'x' }, step));
    await run.seen(({ type }) => type === 'update');
    run.child.kill('SIGINT');
    expect((await run.ended).last).toMatchObject(wanted);
  });

  it('SIGINT ends an agent that does not hear', async () => {
    const run = startHost(play({ deaf: true }, { say: 'x' }, { hang: true }));
    await run.seen(({ type }) => type === 'update');
    const before = Date.now();
    run.child.kill('SIGINT');
    const { code, last } = await run.ended;
    expect([code, last]).toMatchObject([1, { type: 'error', at: 'agent', message: 'cancelled' }]);
    expect(Date.now() - before).toBeLessThan(8_000);
  });

  it('SIGINT ends an agent that is not open yet', async () => {
    const run = startHost({ ...play(), on: { new: [{ hang: true }] } });
    await run.seen(({ type }) => type === 'agent');
    run.child.kill('SIGINT');
    expect((await run.ended).last).toMatchObject({ type: 'error', message: 'cancelled' });
  });

  it('SIGTERM ends it at once', async () => {
    const run = startHost(play({ say: 'x' }, { hang: true }));
    await run.seen(({ type }) => type === 'update');
    run.child.kill('SIGTERM');
    expect((await run.ended).last).toMatchObject({ type: 'error', at: 'agent', message: 'terminated' });
  });
});

it('marks what it hears of earlier turns', async () => {
  const script = { session: { sessionId: 's' }, initialize: { agentCapabilities: { sessionCapabilities: {} } } };
  const first = startHost({ ...script, ...play() });
  await first.ended;
  const again = { ...play(), ...script, on: { load: [{ replay: 5000 }] } };
  const run = startHost(again, { session: { id: 's' } }, { folder: first.folder });
  const { last, lines } = await run.ended;
  expect(last).toMatchObject({ type: 'result', text: 'done' });
  expect(lines.filter(({ replayed }) => replayed === true).length).toBeGreaterThanOrEqual(5000);
  const prompted = lines.findIndex(({ type }) => type === 'prompted');
  expect(lines.slice(0, prompted).filter(({ type, replayed }) => type === 'update' && replayed !== true)).toEqual([]);
  expect(lines.find(({ type }) => type === 'session')).toMatchObject({ id: 's', resumed: true });
});

it('waits for history that comes after the answer', async () => {
  const agent = `
    const send = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }));
    const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'old' } };
    const replay = () => send({ method: 'session/update', params: { sessionId: 's', update } });
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method } = JSON.parse(line);
      if (method === 'initialize') send({ id, result: { protocolVersion: 1, agentCapabilities: { loadSession: true } } });
      else if (method === 'session/prompt') send({ id, result: { stopReason: 'end_turn' } });
      else send({ id, result: {} }), [0, 60, 120, 180, 240, 300].forEach((ms) => setTimeout(replay, ms));
    });`;
  const { last, lines } = await startHost({}, { command: process.execPath, args: ['-e', agent], session: { id: 's' } })
    .ended;
  expect(last).toMatchObject({ type: 'result', text: '' });
  expect(lines.filter(({ type, replayed }) => type === 'update' && replayed === true)).toHaveLength(6);
});

it.each([
  [
    { configOptions: [{ id: 'size', category: 'model', options: [{ group: 'g', options: [{ value: 'b' }] }] }] },
    { what: 'config_option', configId: 'size', value: 'b' },
  ],
  [{ models: { currentModelId: 'a', availableModels: [{ id: 'a' }, { id: 'b' }] } }, { what: 'model', modelId: 'b' }],
])('sets the model by what the session offers: %j', async (session, set) => {
  const run = startHost({ ...play(), session }, { model: 'b' });
  expect((await run.ended).last).toMatchObject({ type: 'result' });
  expect(run.noted('set.jsonl')).toMatchObject([set]);
});
