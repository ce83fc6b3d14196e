import type { Board, Note } from '../model/plan/board.ts';
import type { Intervention } from '../model/plan/intervention.ts';
import { agentScope } from '../model/plan/scope.ts';
import type { WorkEvent } from '../model/plan/work.ts';
import { refuseScope, refuseWhenOver, type BoardPart } from './intervention-checks.ts';
import { mapRequests } from './work-requests.ts';

type Tell = Extract<Intervention, { verb: 'tell' }>;

/** All notes that an agent has not read are in one prompt. */
const MOST_CHARACTERS = 32_000;

export function refuseNote(board: BoardPart, { agent, text }: Tell): string | undefined {
  const refused = refuseScope(board, agentScope(agent)) ?? refuseWhenOver(board);
  if (refused !== undefined) return refused;
  const waiting = board.notes.filter((note) => note.agent === agent);
  const length = waiting.reduce((sum, note) => sum + note.text.length, text.length);
  return length <= MOST_CHARACTERS
    ? undefined
    : `${agent} has ${waiting.length} unread notes, and this one does not fit`;
}

type Noted = Pick<Board, 'notes' | 'tasks' | 'now'>;

/** The board with the note. `now` marks the live turns of the agent, which the engine ends, and each of them continues with it. */
export function withNote(board: Noted, { agent, text, now }: Tell, by: string): Pick<Board, 'notes' | 'tasks'> {
  const { tasks, ended } = now ? interrupted(board.tasks, agent, by) : { tasks: board.tasks, ended: [] };
  const note: Note = { agent, text, by, at: board.now, attempt: null, task: null };
  const notes = ended.length === 0 ? [note] : ended.map((task) => ({ ...note, task }));
  return { notes: [...board.notes, ...notes], tasks };
}

function interrupted(before: Board['tasks'], agent: string, by: string) {
  const ended: string[] = [];
  const tasks = before.open.reduce((changed, state) => {
    let isAtWork = false;
    const work = mapRequests(state.work, (request) => {
      if (request.state.at !== 'live' || request.state.agent !== agent) return request;
      isAtWork = true;
      return { ...request, state: { ...request.state, interruptedBy: by } };
    });
    if (isAtWork) ended.push(state.task.id);
    return isAtWork ? changed.with({ ...state, work }) : changed;
  }, before);
  return { tasks, ended };
}

/** A turn takes all notes of its agent. Unless it completes, the next one gets them again: it may not have read them. */
export function notesAfter(
  notes: Board['notes'],
  event: WorkEvent,
  { task, isOver }: { readonly task: string; readonly isOver: boolean },
): Board['notes'] {
  if (notes.length === 0) return notes;
  const after = notesOf(notes, event, task);
  const isPast = isOver || (event.type === 'attempt-settled' && event.outcome === 'completed');
  return isPast ? forAnyTurn(after, task) : after;
}

function notesOf(notes: Board['notes'], event: WorkEvent, task: string): Board['notes'] {
  switch (event.type) {
    case 'attempt-started': {
      const { agent, attempt } = event;
      const isFor = (note: Note): boolean =>
        note.agent === agent && note.attempt === null && (note.task === null || note.task === task);
      return notes.map((note) => (isFor(note) ? { ...note, attempt } : note));
    }
    case 'attempt-settled': {
      const { attempt, outcome } = event;
      if (outcome === 'completed') return notes.filter((note) => note.attempt !== attempt);
      return notes.map((note) => (note.attempt === attempt ? { ...note, attempt: null } : note));
    }
    default:
      return notes;
  }
}

/** A task that completed or ended before it read them leaves them to the agent’s next turn, each once. */
function forAnyTurn(notes: Board['notes'], task: string): Board['notes'] {
  return notes.flatMap((note) => {
    if (note.task !== task || note.attempt !== null) return [note];
    const isThere = notes.some(
      (one) => one !== note && one.agent === note.agent && one.at === note.at && one.text === note.text,
    );
    return isThere ? [] : [{ ...note, task: null }];
  });
}
