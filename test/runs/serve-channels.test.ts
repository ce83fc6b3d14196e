// @module-tag all
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { findService } from '../../src/squad/service/service-lock.ts';
import { signed } from '../../src/substrate/channels/webhook/signature.ts';
import { openCollector } from '../support/collector.ts';
import { ALICE, DiscordServer, ROOM, TOKEN } from '../support/discord-server.ts';
import { git } from '../support/git.ts';
import { requestPlans, write } from '../support/sprint-script.ts';
import { stateOf } from '../support/state.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import { scriptedTeam, sprintScript } from './sprint-run-script.ts';
import { until } from './serve-bench.ts';

const SECRET = 'the-canary-secret-of-a-webhook';
const REPORTS = '1298374650123456790';
const NOTE = 'The colour of the form is blue.';

/** Takes what squad posts. */
async function openHook() {
  const posts: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => void (body += piece));
    request.on('end', () => {
      posts.push((JSON.parse(body) as { text: string }).text);
      response.writeHead(200, signed(SECRET, '', Date.now())).end();
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { posts, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

function openBench(settings: object): RunBench {
  const bench = openRunBench({ script: [], settings: { agents: scriptedTeam(), ...settings } });
  onTestFinished(() => {
    const pid = findService(stateOf(bench.repository))?.holder?.pid;
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
    bench.end();
  });
  git(bench.repository, 'add', '-A');
  git(bench.repository, 'commit', '-qm', 'start');
  const id = `{match:\\br-${'[a-z0-9]'.repeat(8)}\\b}`;
  // What an agent can see of itself and others goes into a commit.
  const looks = { run: ['sh', '-c', 'env >seen.txt; cat /proc/[0-9]*/cmdline >>seen.txt 2>/dev/null; true'] } as const;
  const says = { mcp: 'squad', tool: 'send', arguments: { to: ['designer'], text: NOTE } };
  bench.rescript([
    {
      when: '# Task plan-requests:',
      steps: [{ sleep: 1_500 }, { answer: 'planned' }],
      structured: requestPlans({ [id]: ['b-one'] }, [write('b-one', { source: `request:${id}` })]),
    },
    ...sprintScript([{ item: 'b-one', first: [says, looks, { sleep: 1_500 }] }]),
  ]);
  return bench;
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}

function isIn(bytes: string | Buffer): boolean {
  return [TOKEN, SECRET].some((secret) => bytes.includes(secret));
}

/** What a process that is at work was started with; '' once it has ended. */
function startOf(pid: number): string {
  try {
    return ['environ', 'cmdline'].map((name) => readFileSync(`/proc/${pid}/${name}`, 'utf8')).join('\n');
  } catch {
    return '';
  }
}

it(
  'a message on Discord becomes a commit, channels hear of it, and no secret of a channel reaches an agent, file, trace or report',
  { timeout: 400_000 },
  async () => {
    const server = await DiscordServer.open();
    onTestFinished(async () => server.close());
    server.addRoom({ id: REPORTS, type: 0, name: 'reports' });
    const hook = await openHook();
    const collector = await openCollector();
    onTestFinished(async () => collector.close());
    const bench = openBench({
      sprint: { folder: 'team', timezone: 'Europe/Berlin' },
      tracing: { to: 'otlp', endpoint: `${collector.url}/v1/traces`, content: true },
      channels: {
        team: {
          ...{ type: 'discord', token: 'DISCORD_TOKEN', api: server.api, places: [ROOM], report: REPORTS },
          senders: { [ALICE]: ['ask', 'request', 'control', 'answer'] },
        },
        hook: { type: 'webhook', secret: 'HOOK_SECRET', url: hook.url },
      },
    });
    const environment = { DISCORD_TOKEN: TOKEN, HOOK_SECRET: SECRET, ...collector.environment };
    const check = await bench.run(['serve', 'check', '--yes'], environment);
    expect(check.code, check.stderr).toBe(0);
    const service = bench.start(['serve'], environment);
    await until(
      () => server.requests.includes(`GET /channels/${ROOM}`),
      () => server.requests,
    );
    const asked = server.say(`request: Make one thing. The token is ${TOKEN}, the other ${SECRET}.`, { by: ALICE });

    const seen = new Map<number, string>();
    const told = (): string[] => [...server.posts(REPORTS), ...hook.posts];
    const isOver = (): boolean => {
      for (const pid of bench.alive()) if (!seen.has(pid)) seen.set(pid, startOf(pid));
      return [server.posts(REPORTS), hook.posts].every((posts) => posts.some((text) => text.includes(' is completed')));
    };
    await until(isOver, () => [told(), server.posts(asked.id)], 300_000);
    await until(
      () => server.posts(asked.id).some((text) => text.includes('is done')),
      () => server.posts(asked.id),
    );

    // What operators see of the traffic between roles comes before the end of the sprint, once.
    for (const posts of [server.posts(REPORTS), hook.posts]) {
      const relay = posts.filter((text) => text.includes(', between roles:'));
      const lines = relay.join('\n').split('\n');
      expect(lines).toContainEqual(
        expect.stringMatching(/^- research \(research\) → orchestrator, research, completed/),
      );
      expect(new Set(lines.filter((line) => line.startsWith('- '))).size).toBe(
        lines.filter((line) => line.startsWith('- ')).length,
      );
      const end = posts.findIndex((text) => / is completed/.test(text));
      expect(posts.findLastIndex((text) => text.includes(', between roles:'))).toBeLessThan(end);
    }

    const commands = [
      ...[['report'], ['log'], ['mail', 'trace'], ['sprint', 'report'], ['request', 'list', '--json']],
      ['db', 'export'],
    ];
    const printed = new Map<string, string>();
    for (const args of commands) {
      const { stdout, stderr, code } = await bench.run(args, {});
      expect(code, `${args.join(' ')}: ${stderr}`).toBe(0);
      expect([args, stdout === '', isIn(stdout + stderr)]).toEqual([args, false, false]);
      printed.set(args.join(' '), stdout);
    }
    expect(printed.get('mail trace')).toContain(NOTE);
    expect(printed.get('request list --json')).toContain('The token is [redacted], the other [redacted].');
    // So what is looked at does show what a process was started with.
    expect(isIn(startOf(service.child.pid ?? 0))).toBe(true);
    service.child.kill('SIGTERM');
    const { stdout, stderr } = await service.finished;
    expect(isIn(stdout + stderr)).toBe(false);
    const started = [...seen.values()].filter((text) => text !== '');
    expect(started.length).toBeGreaterThan(0);
    expect(started.filter(isIn)).toEqual([]);
    expect(collector.requests.some(({ body }) => body.includes('[redacted]'))).toBe(true);
    expect(collector.requests.filter(({ body, headers }) => isIn(body + JSON.stringify(headers)))).toEqual([]);
    const saw = git(bench.repository, 'show', 'sprints:seen.txt');
    expect(saw).toContain('PATH=');
    expect(isIn(saw)).toBe(false);
    expect(filesBelow(bench.root).filter((path) => isIn(readFileSync(path)))).toEqual([]);
    expect(isIn(git(bench.repository, 'cat-file', '--batch-all-objects', '--batch', '--buffer'))).toBe(false);
    expect([...told(), ...server.allPosts().map(({ content }) => content)].filter(isIn)).toEqual([]);
  },
);
