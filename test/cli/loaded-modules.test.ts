import type { PlanEvent } from '../../src/model/plan/event.ts';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { definition, RecordedRun } from '../view/report/support.ts';
import { CLI_ENTRY } from '../support/cli-entry.ts';
import { ALL, some, SPREAD } from '../support/lane.ts';
import { mailRoom } from './mail/room.ts';
import { roomForTest, scriptedTurn } from './room.ts';
import { newStateOf } from '../support/state.ts';

const HOOK = new URL('../fixtures/cli/record-modules.mjs', import.meta.url).href;
/** The graph library, or the part of the built command line that holds it. */
const GRAPH = /@langchain|\/cli-engine\.mjs/;
/** What reads Markdown and YAML, in the same way. */
const READERS = /markdown-it|node_modules\/yaml|\/cli-checks\.mjs/;
/** The policies and their schemas, or the part of the built command line that holds them. A frozen list is read without. */
const POLICIES = /\/playbooks\/(?:registry|council|delivery|objective)|\/stage-schema\.ts|\/cli-(?:checks|engine)\.mjs/;
/** What starts the turns of agents. */
const RUNTIMES = /\/engine\/compose\.ts|\/cli-runtimes\.mjs/;
/** What begins and ends sprints. */
const STEPS = /\/squad\/team\/(?:step-team|open-sprint|close-sprint)\.ts|\/cli-(?:step-team|open-sprint)\.mjs/;
/** Channels to people, and their libraries. */
const CHANNELS = /@discordjs|\/channels\/|\/cli-(?:discord|webhook)\.mjs|\/undici\//;
const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

/** Long enough for a service to have looked a few times, also on a slow machine. */
const SERVES_MS = 12_000;

/** URLs of the modules that a Node with these arguments loads. `timeout`: ms after which it gets a SIGTERM. */
function loadedBy(args: readonly string[], cwd: string, recordTo: string, timeout?: number): string[] {
  const env = {
    PATH: process.env['PATH'],
    HOME: cwd,
    XDG_STATE_HOME: join(cwd, '../state'),
    SQUAD_TEST_MODULES: recordTo,
  };
  const run = spawnSync(process.execPath, ['--import', HOOK, ...args], { cwd, env, encoding: 'utf8', timeout });
  const urls = readFileSync(recordTo, 'utf8').split('\n');
  expect(urls.length, run.stderr).toBeGreaterThan(1);
  return urls;
}

describe('the graph library is loaded by what needs it only', () => {
  it('would be seen here', ALL, () => {
    const room = roomForTest();
    const program = `await import('@langchain/langgraph')`;
    const urls = loadedBy(['--input-type=module', '-e', program], PROJECT, join(room.root, 'urls'));
    expect(urls.some((url) => url.includes('/@langchain/langgraph/'))).toBe(true);
  });

  it.each(some(['--version', '--help', 'doctor', 'log', 'db check'], 0, 2))('squad %s', ALL, async (words) => {
    const room = roomForTest();
    if (/log|db/.test(words)) await room.run(scriptedTurn(room, [{ answer: 'done' }]));
    const urls = loadedBy([CLI_ENTRY, ...words.split(' ')], room.repository, join(room.root, 'urls'));
    expect(urls.some((url) => url.endsWith(CLI_ENTRY))).toBe(true);
    expect(urls.filter((url) => GRAPH.test(url))).toEqual([]);
  });

  it.each(some(['status', 'watch', 'report', 'answer yes', 'clean', 'runs', 'queue', 'show', 'diff'], 3))(
    'squad %s',
    SPREAD,
    async (words) => {
      const room = roomForTest();
      const run = new RecordedRun(definition(), newStateOf(room.repository)).allocate();
      if (words === 'answer yes') {
        const ask: PlanEvent = {
          type: 'mail',
          seq: 1,
          at: 1,
          id: 'm-1',
          from: 'BOB',
          to: ['MAIN'],
          kind: 'ask',
          action: 'clarify',
          body: { question: 'so?' },
        };
        run.plan([{ entry: 'event', seq: 1, at: 1, event: ask }]);
      } else run.publish();
      run.close();
      const urls = loadedBy([CLI_ENTRY, ...words.split(' ')], room.repository, join(room.root, 'urls'));
      // The sources, or the chunk that was built of them.
      const own = new RegExp(`/(?:${words.split(' ')[0]}\\.ts|cli-${words.split(' ')[0]}\\d?\\.mjs)$`);
      expect(urls.some((url) => own.test(url))).toBe(true);
      expect(urls.filter((url) => GRAPH.test(url))).toEqual([]);
      if (['status', 'runs', 'queue'].includes(words)) expect(urls.filter((url) => POLICIES.test(url))).toEqual([]);
    },
  );

  it('squad serve, which stays in memory', ALL, () => {
    const room = roomForTest();
    const schedule = { name: 'nightly', cron: '0 2 * * *', timezone: 'UTC', objective: 'go' };
    writeFileSync(join(room.repository, 'squad.yaml'), JSON.stringify({ version: 1, schedules: [schedule] }));
    const urls = loadedBy([CLI_ENTRY, 'serve'], room.repository, join(room.root, 'urls'), SERVES_MS);
    expect(urls.some((url) => /\/(?:run-service\.ts|cli-serve\d?\.mjs)$/.test(url))).toBe(true);
    expect(urls.filter((url) => GRAPH.test(url) || POLICIES.test(url) || CHANNELS.test(url))).toEqual([]);
  });

  it.each<[string, ...RegExp[]]>([
    ['backlog', GRAPH, READERS],
    ['request list', GRAPH, POLICIES],
    ['sprint status', GRAPH, POLICIES, RUNTIMES, STEPS],
  ])('squad %s, nor what begins work', (words, ...never) => {
    const room = roomForTest();
    writeFileSync(join(room.repository, 'squad.yaml'), 'version: 1\nsprint: { folder: team, slots: "0 9 * * 1-5" }\n');
    const urls = loadedBy([CLI_ENTRY, ...words.split(' ')], room.repository, join(room.root, 'urls'));
    const name = words.replace(' list', '').replace(' ', '-');
    expect(urls.some((url) => new RegExp(`/(?:${name}\\.ts|cli-${name}\\d?\\.mjs)$`).test(url))).toBe(true);
    expect(urls.filter((url) => never.some((one) => one.test(url)))).toEqual([]);
  });

  it('squad mail inbox, nor Markdown and YAML', () => {
    const room = mailRoom();
    const urls = loadedBy([CLI_ENTRY, 'mail', 'inbox'], room.repository, join(room.root, 'urls'));
    expect(urls.some((url) => /\/(?:inbox\.ts|cli-inbox\d?\.mjs)$/.test(url))).toBe(true);
    expect(urls.filter((url) => GRAPH.test(url) || READERS.test(url))).toEqual([]);
  });

  it('--version loads no database either', () => {
    const room = roomForTest();
    const urls = loadedBy([CLI_ENTRY, '--version'], room.repository, join(room.root, 'urls'));
    expect(urls.filter((url) => url.includes('better-sqlite3'))).toEqual([]);
  });
});
