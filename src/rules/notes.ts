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

/** The board with the note. `now` marks the live turns of the agent, which the engine ends. */
export function withNote(board: Noted, { agent, text, now }: Tell, by: string): Pick<Board, 'notes' | 'tasks'> {
  const note: Note = { agent, text, by, at: board.now, attempt: null };
  const notes = [...board.notes, note];
  return { notes, tasks: now ? interrupted(board.tasks, agent, by) : board.tasks };
}

function interrupted(before: Board['tasks'], agent: string, by: string): Board['tasks'] {
  return before.open.reduce((tasks, state) => {
    let isAtWork = false;
    const work = mapRequests(state.work, (request) => {
      if (request.state.at !== 'live' || request.state.agent !== agent) return request;
      isAtWork = true;
      return { ...request, state: { ...request.state, interruptedBy: by } };
    });
    return isAtWork ? tasks.with({ ...state, work }) : tasks;
  }, before);
}

/** A turn takes all notes of its agent. Unless it completes, the next one gets them again: it may not have read them. */
export function notesAfter(notes: Board['notes'], event: WorkEvent): Board['notes'] {
  if (notes.length === 0) return notes;
  switch (event.type) {
    case 'attempt-started': {
      const { agent, attempt } = event;
      return notes.map((note) => (note.agent === agent && note.attempt === null ? { ...note, attempt } : note));
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
