import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { fakeAcpArguments, fakeAcpNotes, type FakeAcpScript, type FakeAsked } from './fake-acp-agent.ts';
import { markedPids } from './marked-pids.ts';
import type { RunRoom } from './run-room.ts';
import { objective, PLANNER, planTurn, type Scenario } from './scenario-parts.ts';
import './on-disk.ts';
import { stateOf } from './state.ts';

/** What its agent says before its first request, for which it waits for a word of the test; and in a tool. */
export const ABOUT_TO_ASK = 'about to ask';
export const IN_TOOL = 'sleep 2';

/** A folder that the settings let the agent see; and the file whose being there lets it go on. */
const seenBy = (effects: string): string => join(dirname(effects), 'agent');
const goFile = (effects: string): string => join(seenBy(effects), 'go');

function script(effects: string, asksPerson: boolean): FakeAcpScript {
  const run = (command: string) => ({ run: command, ask: true });
  const steps = [
    { say: ABOUT_TO_ASK },
    { until: goFile(effects) },
    { write: { path: 'only.txt', text: 'only\n' }, ask: true, ...(asksPerson ? { kind: 'other' } : {}) },
    run(IN_TOOL),
    run('git add --all'),
    run('git commit --quiet --message made'),
    { say: 'done' },
  ];
  return { turns: [{ steps }] };
}

/** One piece, made by an agent that asks for each of its tools, for one of them a person. */
const acpRun = (asksPerson: boolean): Scenario => ({
  name: 'one piece by an ACP agent',
  objective: objective('One piece', 'cat only.txt'),
  settings: (planner, effects) => {
    mkdirSync(seenBy(effects));
    const path = join(seenBy(effects), 'script.json');
    writeFileSync(path, JSON.stringify(script(effects, asksPerson)));
    return stringify({
      version: 1,
      agents: [
        { ...PLANNER, runtime: 'scripted' },
        { name: 'builder-1', role: 'builder', runtime: 'acp/fake', ...(asksPerson ? { ask: 'human' } : {}) },
      ],
      runtimes: {
        scripted: { config: { script: planner } },
        acp: { agents: { fake: { command: process.execPath, args: fakeAcpArguments(path) } } },
        'acp/fake': { config: { read: [seenBy(effects)] } },
      },
      verify: [{ run: `test -f readme.md && echo "verify $SQUAD_TURN_ID" >> '${effects}'` }],
    });
  },
  ownRuntimes: true,
  script: (effects) => ({ turns: [planTurn([{ id: 'only', needs: [] }], effects)] }),
});
export const ACP_RUN = acpRun(false);
export const ACP_RUN_WITH_PERSON = acpRun(true);

/** The requests of this room that wait for a person. */
function openAsks({ repository }: RunRoom): string[] {
  const turns = join(stateOf(repository), 'turns');
  if (!existsSync(turns)) return [];
  const asks = readdirSync(turns, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\bask-\d+\.json$/.test(path),
  );
  return asks.map((path) => join(turns, path)).filter((path) => !existsSync(answerOf(path)));
}

const answerOf = (ask: string): string => ask.replace(/\bask-(\d+\.json)$/, 'answer-$1');

export function asksPerson(room: RunRoom): boolean {
  return openAsks(room).length > 0;
}

/** A person says yes to whatever waits. */
export function sayYes(room: RunRoom): void {
  for (const ask of openAsks(room)) {
    writeFileSync(`${ask}.answer`, JSON.stringify({ allow: true }));
    renameSync(`${ask}.answer`, answerOf(ask));
  }
}

/** Lets the agent of this room ask. */
export function letAsk({ effects }: RunRoom): void {
  writeFileSync(goFile(effects), '');
}

/** Whether the output of any turn has this text. */
export function wasSaid({ repository }: RunRoom, text: string): boolean {
  const turns = join(stateOf(repository), 'turns');
  if (!existsSync(turns)) return false;
  return readdirSync(turns).some((turn) => {
    const path = join(turns, turn, 'stdout');
    return existsSync(path) && readFileSync(path, 'utf8').includes(text);
  });
}

/** What the agents of this room asked, and what they were answered. */
export function askedIn({ root }: RunRoom): FakeAsked[] {
  return fakeAcpNotes(join(root, 'state'), 'asked.jsonl').map((line) => JSON.parse(line) as FakeAsked);
}

/** How many prompts reached an agent. */
export function promptsIn({ root }: RunRoom): number {
  return fakeAcpNotes(join(root, 'state'), 'received.jsonl').filter((line) => line.includes('"session/prompt"')).length;
}

/** The hosts of the turns of this repository. */
export function acpHosts(repository: string): { readonly pid: number; readonly turn: string }[] {
  const turns = join(stateOf(repository), 'turns');
  if (!existsSync(turns)) return [];
  return readdirSync(turns).flatMap((turn) =>
    markedPids(turn)
      .filter(isHost)
      .map((pid) => ({ pid, turn })),
  );
}

function isHost(pid: number): boolean {
  try {
    const [program = '', ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return /\bnode$/.test(program) && args.some((argument) => /acp-host\.mjs$|acp\/host\/main\.ts$/.test(argument));
  } catch {
    // It has ended since.
    return false;
  }
}
