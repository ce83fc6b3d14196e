import { openRoom, type ScriptedRoom } from './scripted-room.ts';
import { attemptsOf } from './stored-events.ts';

/** The folder of the run's documents has its name, which is made from the objective's title. */
const FOLDER = 'docs/squad/bench';

/**
 * A run of so many stages, one after the other: each writes a document, and every fourth is reviewed, which is one stage more. Each
 * turn is a real process that takes `turnMs` before it writes.
 */
export function openStagesRoom(folder: string, count: number, turnMs: number): ScriptedRoom {
  const ids = Array.from({ length: count }, (_, index) => `S${index + 1}`);
  const stages = ids.map((id, index) => ({
    id,
    by: ['builder'],
    brief: `Write the document of ${id}.`,
    makes: { document: `${id}.md` },
    ...(index % 4 === 3 ? { review: { id: `${id}_REVIEW`, by: ['reviewer'] } } : {}),
  }));
  const agent = (role: string, access: string) => ({ name: role, role, runtime: 'scripted', access });
  const settings = { playbook: { stages }, agents: [agent('builder', 'edit'), agent('reviewer', 'read-only')] };
  return openRoom(folder, settings, [reviewTurn(turnMs), ...ids.map((id) => stageTurn(id, turnMs))]);
}

/** When the ledger had such an event of each stage's turn, in order. The judge of the objective's criterion is no stage. */
export function momentsOf(room: ScriptedRoom, type: string): number[] {
  return attemptsOf(room.events(), type).flatMap(({ task, at }) => (/^s\d+$/.test(task) ? [at] : []));
}

function stageTurn(id: string, turnMs: number): object {
  return {
    when: `# Task ${id.toLowerCase()}:`,
    steps: [
      { sleep: turnMs },
      { write: { path: `${FOLDER}/${id}.md`, text: `# ${id}\n\nWhat there is to say.\n` } },
      { run: ['git', 'add', '--all'] },
      { run: ['git', 'commit', '--quiet', '--message', `Write ${id}`] },
      { answer: 'done' },
    ],
  };
}

function reviewTurn(turnMs: number): object {
  const structured = { approved: true, summary: 'as asked', findings: [] };
  return { when: '# Review of task', steps: [{ sleep: turnMs }, { answer: 'read' }], structured };
}
