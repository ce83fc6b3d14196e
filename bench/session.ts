import { join } from 'node:path';
import { folderSink } from '../src/engine/sinks/folder-sink.ts';
import { createBoard } from '../src/rules/board.ts';
import { foldEntry } from '../src/rules/plan-step.ts';
import type { KeepsFolder } from '../src/model/folder.ts';
import { createRedactor } from '../src/model/redaction/redactor.ts';
import { sessionFiles } from '../src/playbooks/session/session-files.ts';
import { readSession } from '../src/squad/sources/session/read-session.ts';
import { plainJson, type Json } from '../src/text/json.ts';
import { playSession } from '../test/playbooks/session/support.ts';
import type { Turn } from '../test/playbooks/simulator.ts';
import { answer, writeSession, type SessionAbout } from '../test/support/session-folder.ts';
import { machineIn, openOwnLedger } from './shared/machine.ts';
import { cpuMs, mean, median, rowOf, type Bench } from './shared/row.ts';

const TASKS = 500;
/** How many of them may run at once. */
const LINES = 10;

/** What the folder of a session costs the engine if it looks after each step; it looks at most five times a second. */
export const session: Bench = {
  name: 'session',
  run: async (folder) => {
    const few = await measure(join(folder, 'few'), TASKS / 10);
    const { looks, warnings } = await measure(join(folder, 'all'), TASKS);
    if (warnings.length > 0) throw new Error(warnings.join('\n'));
    const part = Math.floor(looks.length / 10);
    const [first, last] = [looks.slice(0, part), looks.slice(-part)];
    const name = `CPU for the folder of a session of ${TASKS} tasks`;
    return [
      rowOf(`${name}, an event: beside one of ${TASKS / 10}`, 'ms', mean(looks), mean(few.looks), {
        target: { of: 'squad', most: 5 },
        note: `${looks.length} events; half of them at most ${median(looks).toFixed(2)} ms, the longest ${Math.max(...looks).toFixed(1)} ms`,
      }),
      rowOf(`${name}, an event: the last tenth beside the first`, 'ms', mean(last), mean(first), {
        target: { of: 'ratio', most: 2 },
      }),
    ];
  },
};

async function measure(folder: string, tasks: number): Promise<{ looks: number[]; warnings: string[] }> {
  const own = writeSession(join(folder, 'session'), aboutOf(tasks));
  const { ledger, close } = openOwnLedger(machineIn(folder), folder);
  const { session: played } = await readSession(own, folder);
  const warnings: string[] = [];
  const ports = {
    ledger,
    redactor: createRedactor([]),
    warn: (text: string) => warnings.push(text),
  };
  const keeps: KeepsFolder = (view, moment) => sessionFiles(played, view, moment);
  const about = { runId: 'bench', name: 'bench', folder: own, hashes: join(folder, 'hashes.jsonl'), keeps };
  const { write } = folderSink(ports, about);
  const looks: number[] = [];
  const script = { turn: ({ task }: Turn) => ({ output: said(task) }) };
  const { board: end, entries } = playSession(played, { script, parallel: LINES });
  let board = createBoard(end.facts);
  for (const entry of entries) {
    board = foldEntry(board, entry);
    const now = board;
    looks.push(await cpuMs(async () => write({ board: now, state: 'running' })));
  }
  close();
  return { looks, warnings };
}

/** Lines of tasks side by side. */
function aboutOf(tasks: number): SessionAbout {
  const ids = Array.from({ length: tasks }, (_, index) => `TASK-${index + 1}`);
  return {
    roles: [{ name: 'analyst', responsibility: 'read-only' }],
    tasks: ids.map((id, index) => ({
      id,
      role: 'analyst',
      needs: index < LINES ? [] : ids.slice(index - LINES, index - LINES + 1),
    })),
  };
}

const SENTENCE = 'The parser reads the whole file before it knows the first line, which costs memory for long ones. ';

function said(task: string): Json {
  return plainJson(
    answer({
      summary: SENTENCE.repeat(2),
      artifact: { name: `notes on ${task}`, markdown: `# ${task}\n\n${SENTENCE.repeat(40)}\n` },
      memory: [{ key: task, value: SENTENCE }],
      ...{ learnings: [SENTENCE, SENTENCE], decisions: [SENTENCE], issues: [SENTENCE] },
      explorations: [{ angle: `how ${task} reads`, keywords: ['parser', task], findings: SENTENCE.repeat(4) }],
    }),
  );
}
