import type { FolderFile, FolderMoment, View } from '../../model/plan.ts';
import { defined } from '../../text/defined.ts';
import { STATE_FILE } from './finding.ts';
import { knowledgeOf } from './knowledge.ts';
import { knowledgeFiles } from './knowledge-files.ts';
import type { Session } from './session.ts';
import { stateText } from './session-state.ts';

/** What the folder of a session says at this moment. Its state is last: what it counts as done is there by then. */
export function sessionFiles(session: Session, view: View, moment: FolderMoment): readonly FolderFile[] {
  const text = stateText(session, view, moment);
  const state = { path: STATE_FILE, text, ...defined({ held: session.start.hashes[STATE_FILE] }) };
  return [...knowledgeFiles(knowledgeOf(session, view)), state];
}
