import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PEOPLE_KINDS } from '../../../src/model/people/kinds.ts';
import { TERMINAL, type Message } from '../../../src/model/people/message.ts';
import type { Intent, Right } from '../../../src/model/people/verbs.ts';
import { agree } from '../../../src/squad/preflight/consent.ts';
import { channelItems } from '../../../src/squad/preflight/channel-items.ts';
import { readChannels } from '../../../src/squad/preflight/read-channels.ts';
import {
  bindWorkspace,
  lookIn,
  openWorkspace,
  withLedger,
  type OpenedWorkspace,
} from '../../../src/squad/open-workspace.ts';
import { stepPeople } from '../../../src/squad/people/step-people.ts';
import { lookAtTeam } from '../../../src/squad/team/read-team.ts';
import { armFailpoints } from '../../../src/substrate/system/failpoint.ts';
import { plainJson } from '../../../src/text/json.ts';
import { commandRoom } from '../../cli/room.ts';
import { git } from '../../support/git.ts';
import { ALL } from '../../support/lane.ts';
import { testHost } from '../../support/test-host.ts';

const SECRET = `ghp_${'a1B2c3D4e5'.repeat(4)}`;

const READER = [{ name: 'orchestrator', role: 'orchestrator', runtime: 'scripted', access: 'read-only' }];

interface Channel {
  readonly rights: readonly Right[];
  readonly isAgreed?: boolean;
}

async function room({ rights, isAgreed = true }: Channel) {
  const { root, repository } = commandRoom();
  const web = { type: 'webhook', url: 'http://127.0.0.1:9/', secret: 'HOOK_SECRET', senders: { ann: rights } };
  writeFileSync(join(repository, 'squad.yaml'), JSON.stringify({ channels: { web } }));
  git(repository, 'add', '--all');
  git(repository, 'commit', '--quiet', '--message', 'settings');
  const host = testHost(root, { workingDirectory: repository, configHome: join(root, '.config') });
  const workspace = bindWorkspace(await openWorkspace({ host }));
  const { channels, source } = await readChannels(repository);
  const agreed = async (): Promise<void> => {
    for (const [name, one] of Object.entries(channels))
      await agree(
        channelItems(name, one, source),
        { host, clock: workspace.composition.clock, confirm: async () => true },
        { repository: workspace.repository, yes: false },
      );
  };
  if (isAgreed) await agreed();
  let count = 0;
  const write = async (kind: string, id: string, value: unknown): Promise<void> =>
    withLedger(
      workspace,
      'write',
      (ledger) => void ledger.writeRecord({ kind, id, value: plainJson(value), after: 0 }),
    );
  return {
    workspace,
    agreed,
    say: async (text: string, intent?: Intent): Promise<string> => {
      const id = `web:${(count += 1)}`;
      const own = { channel: 'web', sender: 'ann', name: 'Ann', place: 'hall', text, attachments: [], at: Date.now() };
      await write(PEOPLE_KINDS.message, id, own satisfies Message);
      if (intent !== undefined) await write(PEOPLE_KINDS.reading, id, { intent, at: Date.now() });
      return id;
    },
    settle: async (): Promise<void> => {
      while ((await stepPeople(workspace)).did !== 'wait');
    },
    of: (kind: string) =>
      lookIn(workspace, (ledger) => Object.fromEntries(ledger.records(kind).map(({ id, value }) => [id, value]))) ?? {},
  };
}

/** Gives the repository an agent that can read free text, and settings. */
function withReader({ host, repository: { root } }: OpenedWorkspace, more: object): void {
  const settings = JSON.parse(readFileSync(join(root, 'squad.yaml'), 'utf8')) as object;
  const own = join(host.configHome, 'squad');
  mkdirSync(own, { recursive: true });
  const config = { script: join(own, 'script.json') };
  writeFileSync(config.script, '{ "turns": [{ "steps": [{ "answer": "x" }] }] }');
  writeFileSync(join(own, 'config.yaml'), JSON.stringify({ runtimes: { scripted: { config } } }));
  writeFileSync(join(root, 'squad.yaml'), JSON.stringify({ ...settings, ...more }));
  git(root, 'add', '--all');
  git(root, 'commit', '--quiet', '--message', 'settings of agents');
}

const ALL_RIGHTS: readonly Right[] = ['ask', 'request', 'control', 'answer'];

describe('what messages of a channel do', () => {
  it(
    'is done once and answered once, beside others that do the same and after a kill before it is on record',
    ALL,
    async () => {
      const { say, of, settle, workspace } = await room({ rights: ALL_RIGHTS });
      onTestFinished(() => armFailpoints(''));
      const first = await say(`request Log in with ${SECRET}`);
      armFailpoints('message.acted=throw');
      await expect(stepPeople(workspace)).rejects.toThrow();
      armFailpoints('');
      expect([of(PEOPLE_KINDS.outcome), of(PEOPLE_KINDS.reply), [...lookAtTeam(workspace).team.request]]).toEqual([
        {},
        {},
        [],
      ]);
      await Promise.all(Array.from({ length: 5 }, async () => stepPeople(workspace)));
      await settle();
      const [[id, request] = []] = [...lookAtTeam(workspace).team.request];
      expect(lookAtTeam(workspace).team.request.size).toBe(1);
      expect(request).toMatchObject({ by: 'Ann (web)', text: expect.not.stringContaining(SECRET) });
      expect(of(PEOPLE_KINDS.outcome)).toMatchObject({ [first]: { state: 'done', request: id } });
      expect(of(PEOPLE_KINDS.reply)).toMatchObject({
        [`${first}/answer`]: { channel: 'web', place: 'hall', sender: 'ann' },
      });

      const cancel = await say(`cancel ${id}`);
      await Promise.all(Array.from({ length: 5 }, async () => stepPeople(workspace)));
      expect(of(PEOPLE_KINDS.reply)[`${cancel}/answer`]).toMatchObject({ text: `${id} is cancelled.\n— orchestrator` });
    },
  );

  it('starts and stops a sprint once, also where squad is killed between that and the answer', ALL, async () => {
    const { say, of, settle, workspace } = await room({ rights: ALL_RIGHTS });
    onTestFinished(() => armFailpoints(''));
    const killed = async (): Promise<void> => {
      armFailpoints('message.acted=throw');
      await expect(stepPeople(workspace)).rejects.toThrow();
      armFailpoints('');
    };
    const start = await say('sprint start a login page');
    await killed();
    await settle();
    const { team } = lookAtTeam(workspace);
    expect(team.sprint.size).toBe(1);
    const [id = ''] = team.sprint.keys();
    expect(of(PEOPLE_KINDS.reply)[`${start}/answer`]).toMatchObject({
      text: `The sprint ${id} begins: a login page\n— orchestrator`,
    });

    const stop = await say('sprint stop');
    await killed();
    await settle();
    expect(of(PEOPLE_KINDS.reply)[`${stop}/answer`]).toMatchObject({ text: expect.stringContaining(`${id} wraps up`) });
    expect(lookAtTeam(workspace).team.stop.get(id)).toMatchObject({ by: 'Ann (web)', key: stop });
    const again = await say('sprint stop');
    await settle();
    expect(of(PEOPLE_KINDS.reply)[`${again}/answer`]).toMatchObject({
      text: 'Nothing was done: no sprint is active.\n— orchestrator',
    });
  });

  it('asks for a yes to what a model has read, and says what it is about', async () => {
    const { say, of, settle, workspace } = await room({ rights: ALL_RIGHTS });
    await say('request a login form');
    await settle();
    const [id = ''] = lookAtTeam(workspace).team.request.keys();
    const free = await say('forget about that form', { verb: 'cancel', request: id });
    await settle();
    expect(of(PEOPLE_KINDS.reply)[`${free}/asks`]).toMatchObject({
      text: `squad read: cancel the request ${id}, “a login form”.\nWrite \`yes\` within an hour, or \`no\`.\n— orchestrator`,
    });
    expect(lookAtTeam(workspace).team.request.get(id)?.cancelledAt).toBeUndefined();
    const yes = await say('ok');
    await settle();
    expect(lookAtTeam(workspace).team.request.get(id)?.cancelledAt).toBeGreaterThan(0);
    expect(of(PEOPLE_KINDS.outcome)).toMatchObject({ [free]: { state: 'done' }, [yes]: { state: 'done' } });
    expect(of(PEOPLE_KINDS.reply)).not.toHaveProperty(`${yes}/answer`);
  });

  it('answers with what is wrong, and with the actions that there are', ALL, async () => {
    const { say, of, settle } = await room({ rights: ALL_RIGHTS });
    const said = [
      await say('status r-nothere'),
      await say('cancel r-1'),
      await say('execute deploy'),
      await say('answer: 8443'),
    ];
    await settle();
    expect(said.map((id) => (of(PEOPLE_KINDS.outcome)[id] as { state: string }).state)).toEqual(
      said.map(() => 'refused'),
    );
    expect(of(PEOPLE_KINDS.reply)[`${said[2]}/answer`]).toMatchObject({
      text: expect.stringContaining('no action deploy'),
    });
  });

  it.each([
    ['not-trusted', { agents: READER, verify: [{ run: 'true' }] }],
    ['bad-input', { verify: 'true' }],
  ])('says to its sender where no run can read it before a person has done something: %s', ALL, async (code, more) => {
    const { say, of, settle, workspace } = await room({ rights: ['ask', 'request'] });
    withReader(workspace, more);
    const free = [await say('could you look at the login some day?'), await say('and at the form')];
    await expect(settle()).rejects.toMatchObject({ code });
    for (const id of free) {
      expect(of(PEOPLE_KINDS.outcome)[id]).toMatchObject({ state: 'refused' });
      const text = expect.stringMatching(/^squad cannot read free text yet: .*`request TEXT`.*\n— orchestrator$/s);
      expect(of(PEOPLE_KINDS.reply)[`${id}/answer`]).toMatchObject({ text });
    }
    const known = await say('status');
    await settle();
    expect(of(PEOPLE_KINDS.outcome)[known]).toMatchObject({ state: code === 'not-trusted' ? 'done' : 'refused' });
  });

  it.each(['submitted.recorded', 'messages.submitted'])(
    'is read by one run, wherever squad is killed as it gives it one, at last at %s',
    ALL,
    async (last) => {
      const { say, of, settle, workspace } = await room({ rights: ['request'] });
      onTestFinished(() => armFailpoints(''));
      withReader(workspace, { agents: READER });
      const free = [await say('could you look at the login some day?'), await say('and at the form')];
      for (const point of ['messages.opened', 'submitted.named', last]) {
        armFailpoints(`${point}=throw`);
        await expect(settle(), point).rejects.toThrow();
        armFailpoints('');
      }
      await settle();
      expect(Object.values(of(PEOPLE_KINDS.ask))).toEqual([expect.objectContaining({ messages: free })]);
      expect(lookIn(workspace, (ledger) => ledger.runs().map(({ name }) => name))).toEqual(['ask-1']);
      expect(of(PEOPLE_KINDS.outcome)).toEqual({});
    },
  );

  it('is refused beyond the rights of the sender', ALL, async () => {
    const { say, of, settle, workspace } = await room({ rights: ['ask'] });
    const refused = [
      await say('request x'),
      await say('sprint start x'),
      await say('sprint stop'),
      await say('answer: x'),
    ];
    await settle();
    for (const id of refused)
      expect(of(PEOPLE_KINDS.reply)[`${id}/answer`]).toMatchObject({ text: expect.stringMatching(/^You may not /) });
    const { request, sprint, stop } = lookAtTeam(workspace).team;
    expect([request.size, sprint.size, stop.size]).toEqual([0, 0, 0]);
  });

  it('of a channel that calls itself the terminal gets no rights: the settings cannot name one so', async () => {
    const { workspace } = await room({ rights: ['ask'] });
    const name = JSON.stringify(TERMINAL);
    writeFileSync(join(workspace.repository.root, 'squad.yaml'), `channels: { ${name}: { type: webhook } }`);
    await expect(stepPeople(workspace)).rejects.toMatchObject({ code: 'bad-input' });
  });

  it('waits until a person has agreed to the channel as it is now', ALL, async () => {
    const { say, of, settle, agreed } = await room({ rights: ALL_RIGHTS, isAgreed: false });
    await say('status');
    await settle();
    expect(of(PEOPLE_KINDS.outcome)).toEqual({});
    await agreed();
    await settle();
    expect(of(PEOPLE_KINDS.outcome)).toMatchObject({ 'web:1': { state: 'done' } });
  });
});
