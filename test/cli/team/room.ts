import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { MailPolicy } from '../../../src/model/mail/policy.ts';
import { DEFAULT_TURN_LIMITS, type TurnRequest } from '../../../src/model/turn-request.ts';
import { result } from '../../substrate/ledger/support.ts';
import { eventually, openTmuxRoom, type TmuxRoom } from '../../support/tmux.ts';
import { LED, mailRoom, type MailRoom } from '../mail/room.ts';
import { stateOf } from '../../support/state.ts';

export interface TeamRoom extends MailRoom {
  readonly terminal: TmuxRoom;
  /** `squad team …`, on tmux servers of this room. */
  team(...args: string[]): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>;
  /** The socket of the team's tmux, once there is one. */
  socket(): Promise<string>;
  /** What the pane with this title shows. */
  screenOf(title: RegExp): Promise<string>;
  type(title: RegExp, line: string): Promise<void>;
  titles(): Promise<readonly string[]>;
  /** Kills the program in the pane with this title. */
  killProgram(title: RegExp): Promise<void>;
  /** A turn of that agent that has begun, with what its runtime has printed so far. */
  begin(id: string, agent: string): Playing;
}

interface Playing {
  print(...lines: object[]): void;
  settle(): void;
}

/** A run with a mailbox whose engine is this test, and tmux to look at it. */
export function teamRoom(policy: MailPolicy = LED): TeamRoom {
  const room = mailRoom(policy, true);
  const terminal = openTmuxRoom();
  onTestFinished(() => terminal.close());
  const socket = async (): Promise<string> =>
    eventually('the team’s tmux', () => terminal.sockets().find((name) => name.startsWith('team-')));
  const panes = async (): Promise<readonly (readonly [id: string, title: string])[]> =>
    terminal
      .tmux(await socket(), 'list-panes', '-s', '-F', '#{pane_id} #{pane_title}')
      .trim()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]);
  const paneOf = async (title: RegExp): Promise<string> => {
    const found = (await panes()).find(([, name]) => title.test(name));
    if (found === undefined) throw new Error(`no pane is called ${title.source}`);
    return found[0];
  };
  return {
    ...room,
    terminal,
    socket,
    team: async (...args) => room.run(['team', ...args], { ...terminal.environment, HOME: room.root }),
    screenOf: async (title) => terminal.screen(await socket(), await paneOf(title)),
    type: async (title, line) => {
      const pane = await paneOf(title);
      terminal.tmux(await socket(), 'send-keys', '-t', pane, '-l', line);
      terminal.tmux(await socket(), 'send-keys', '-t', pane, 'Enter');
    },
    killProgram: async (title) => {
      const shell = terminal
        .tmux(await socket(), 'display-message', '-p', '-t', await paneOf(title), '#{pane_pid}')
        .trim();
      const program = readFileSync(`/proc/${shell}/task/${shell}/children`, 'utf8');
      process.kill(Number(program), 'SIGKILL');
    },
    titles: async () => (await panes()).map(([, title]) => title),
    begin: (id, agent) => begin(room, id, agent),
  };
}

function begin({ recorded, repository }: MailRoom, id: string, agent: string): Playing {
  const { ledger, lease, id: runId } = recorded;
  const directory = join(stateOf(repository), 'turns', id);
  const request: TurnRequest = {
    turnId: id,
    workspace: { path: repository },
    prompt: 'go',
    instructions: '',
    access: { level: 'edit' },
    mcp: [],
    limits: DEFAULT_TURN_LIMITS,
  };
  const attempt = {
    id,
    taskId: 'greet',
    kind: 'turn' as const,
    agent,
    runtime: 'scripted',
    request: JSON.stringify(request),
  };
  const seq = ledger.append(runId, 'poke', null);
  const cursor = ledger.run(runId)?.applied ?? 0;
  ledger.apply({ lease, cursor, seq, driver: id, decisions: [{ do: 'claim-attempt', attempt, limits: {} }] });
  mkdirSync(directory, { recursive: true });
  ledger.markSpawned(lease, id, { pid: process.pid, startTime: '1', bootId: 'boot', marker: id }, Date.now());
  return {
    print: (...lines) =>
      appendFileSync(join(directory, 'stdout'), lines.map((line) => `${JSON.stringify(line)}\n`).join('')),
    settle: () => void ledger.settle(lease, id, result({ durationMs: 1500 })),
  };
}
