import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openMachine } from '../../../src/engine/machine.ts';
import { PEOPLE_KINDS } from '../../../src/model/people/kinds.ts';
import { redactorOf } from '../../../src/model/redaction/redactor.ts';
import { bindWorkspace, openWorkspace, withLedger } from '../../../src/squad/open-workspace.ts';
import { readChannelStates } from '../../../src/squad/people/channel-states.ts';
import { channelStatus } from '../../../src/squad/people/channel-status.ts';
import { hostChannels } from '../../../src/squad/people/host-channels.ts';
import { channelItems } from '../../../src/squad/preflight/channel-items.ts';
import { agree } from '../../../src/squad/preflight/consent.ts';
import { readChannels } from '../../../src/squad/preflight/read-channels.ts';
import type { Post } from '../../../src/substrate/ports/channel.ts';
import { roomForTest } from '../../cli/room.ts';
import { ALL } from '../../support/lane.ts';
import { testHost } from '../../support/test-host.ts';

const hook = (secret: string, more: object = {}) => ({ type: 'webhook', url: 'https://a.example/', secret, ...more });

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 30_000;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`never: ${what}`);
    await new Promise((resolve) => void setTimeout(resolve, 20));
  }
}

it(
  'runs what a person has agreed to and can be used, posts in order past failures, and follows squad.yaml',
  { ...ALL, timeout: 90_000 },
  async () => {
    const { repository, root } = roomForTest();
    const settings = (channels: object): void =>
      writeFileSync(join(repository, 'squad.yaml'), JSON.stringify({ version: 1, channels }));
    settings({ good: hook('GOOD'), unset: hook('UNSET'), strange: hook('STRANGE') });
    const host = testHost(root, { workingDirectory: repository });
    const workspace = bindWorkspace(
      await openWorkspace({
        host: { ...host, environment: { ...host.environment, GOOD: 'value-of-good', STRANGE: 'value-of-strange' } },
        composition: openMachine(host),
      }),
    );
    const consent = async (names: readonly string[]): Promise<void> => {
      const { channels, source } = await readChannels(repository);
      for (const name of names) {
        const channel = channels[name];
        if (channel === undefined) continue;
        const ports = { clock: workspace.composition.clock, host, confirm: async () => true };
        await agree(channelItems(name, channel, source), ports, { repository: workspace.repository, yes: false });
      }
    };
    await consent(['good', 'unset']);
    const ledgerPlace = {
      directory: workspace.directory,
      composition: { ...workspace.composition, redactor: () => redactorOf({}, []) },
    };
    const posts: Post[] = [];
    const listening = new Set<string>();
    const said: string[] = [];
    let opened = 0;
    const stopped = new AbortController();
    const hosted = hostChannels({
      ...{ workspace, stopped: stopped.signal, say: (text) => void said.push(text) },
      write: async (work) => withLedger(ledgerPlace, 'write', work),
      open: async ({ name }) => {
        opened += 1;
        if (opened === 1) throw new Error('no address at first, value-of-good');
        return {
          longest: 100,
          listen: async ({ state }, signal) => {
            listening.add(name);
            state('connected');
            await new Promise((resolve) => {
              signal.addEventListener('abort', resolve);
            });
            listening.delete(name);
          },
          send: async (post) => {
            posts.push(post);
            return posts.length === 1 ? { did: 'later', why: 'busy', afterMs: 10 } : { did: 'posted' };
          },
          directPlace: async () => undefined,
          async *history() {
            yield* [];
          },
        };
      },
    });
    onTestFinished(async () => {
      stopped.abort();
      await hosted;
    });
    await until('good listens', () => listening.has('good'));
    const status = async () =>
      (await channelStatus(workspace, host.pid)).map(({ name, state, why, agreed, due }) => ({
        name,
        state,
        why,
        agreed,
        due,
      }));
    expect(await status()).toEqual([
      { name: 'good', state: 'connected', why: undefined, agreed: true, due: 0 },
      { name: 'unset', state: 'off', why: 'the variable UNSET is not set here', agreed: true, due: 0 },
      {
        name: 'strange',
        state: 'off',
        why: 'no person has agreed to it as it is: `squad serve check`',
        agreed: false,
        due: 0,
      },
    ]);
    expect(readChannelStates(workspace.directory, host.pid + 1)).toBeUndefined();
    await withLedger(ledgerPlace, 'write', (ledger) => {
      for (const [index, channel] of ['good', 'strange', 'good'].entries()) {
        const value = { channel, place: 'p', text: `text ${index}`, at: 1 };
        ledger.writeRecord({ kind: PEOPLE_KINDS.reply, id: `r${index}`, value });
      }
    });
    await until('both are posted', () => posts.length >= 3);
    expect(posts.map(({ text }) => text)).toEqual(['text 0', 'text 0', 'text 2']);
    expect(posts[1]?.nonce).toBe(posts[0]?.nonce);
    await until('one is due', async () => (await status()).map(({ due }) => due).join() === '0,0,1');
    await consent(['strange']);
    await until('strange listens', () => listening.has('strange'));
    settings({ strange: hook('STRANGE') });
    await until('good is gone', () => !listening.has('good'));
    expect(said.join('\n')).toContain('good: no address at first, [redacted]; squad tries again');
  },
);
