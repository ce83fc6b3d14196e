import type { FolderFile, FolderMoment, View } from '../../model/plan.ts';
import { defined } from '../../text/defined.ts';
import { knowledgeOf } from './knowledge.ts';
import { knowledgeFiles } from './knowledge-files.ts';
import type { Session } from './session.ts';
import { stateText } from './session-state.ts';

/** What the folder of a session says at this moment. Its state is last: what it counts as done is there by then. */
export function sessionFiles(session: Session, view: View, moment: FolderMoment): readonly FolderFile[] {
  const path = 'team-session.json';
  const state = { path, text: stateText(session, view, moment), ...defined({ held: session.start.hashes[path] }) };
  return [...knowledgeFiles(knowledgeOf(session, view)), state];
}
