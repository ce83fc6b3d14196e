import { isJsonObject, type Json } from '../../text/json.ts';
import type { MailKindEntry } from './kind-entry.ts';
import { KIND_TABLE } from './kind-table.ts';
import type { MailType } from './vocabulary.ts';

type Kind = (typeof KIND_TABLE)[number];
export type MailAction = NonNullable<Kind['action']>;
/** The permissions to send. Reading its own mail needs no permission. */
export type MailVerb = Kind['verb'];

/** A kind of message: what its type, its action and (for assignments) its task type decide. */
export interface MailKind extends MailKindEntry {
  readonly name: Kind['name'];
  readonly action: MailAction | null;
  readonly verb: MailVerb;
  readonly answers: readonly MailAction[] | null;
}

export const MAIL_KINDS: readonly MailKind[] = KIND_TABLE;
export const MAIL_ACTIONS: readonly MailAction[] = distinct(KIND_TABLE.flatMap(({ action }) => action ?? []));
export const MAIL_VERBS: readonly MailVerb[] = distinct(KIND_TABLE.map(({ verb }) => verb));

/** The actions that go with a type; null among them: none at all. */
export function actionsOf(type: MailType): readonly (MailAction | null)[] {
  return distinct(MAIL_KINDS.filter((kind) => kind.type === type).map((kind) => kind.action));
}

/** undefined: there is no such message. A type with a single action has that one without saying so. */
export function kindOf(type: MailType, action: MailAction | null | undefined, body?: Json): MailKind | undefined {
  const [only = null, ...others] = actionsOf(type);
  const meant = action ?? (others.length === 0 ? only : null);
  const fitting = MAIL_KINDS.filter((kind) => kind.type === type && kind.action === meant);
  const taskType = isJsonObject(body) ? body['task_type'] : undefined;
  const exact = fitting.find((kind) => kind.taskType !== undefined && kind.taskType === taskType);
  return exact ?? fitting.find((kind) => kind.taskType === undefined);
}

function distinct<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)];
}
