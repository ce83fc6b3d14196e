import { z } from 'zod';
import { isJsonObject, type Json } from '../../text/json.ts';
import { catchRefusal, refuse, type Refused } from '../../model/mail/refusal.ts';
import { refuseIssue, shownName } from '../../model/mail/shape.ts';
import type { MailWords } from '../../model/mail/turn-file.ts';
import type { MailVerb } from '../../model/mail/kind.ts';
import type { Mailbox, MailParty } from '../../substrate/ports/mailbox.ts';
import { publicSchema } from './public-schema.ts';
import type { Hints } from './wire.ts';

/** The mailbox, and who is calling. */
export interface ToolContext {
  readonly mail: Mailbox;
  readonly party: MailParty;
  readonly words: MailWords;
  now(): number;
}

export type ToolAnswer = { readonly ok: true; readonly content: Readonly<Record<string, Json>> } | Refused;

/** One tool of the server. */
export interface MailTool {
  readonly name: string;
  readonly description: string;
  /** Members with this permission may use it; null: all members. */
  readonly verb: MailVerb | null;
  /** The actions of the asks that it answers. */
  readonly answers: readonly string[];
  /** Only what differs from the protocol's defaults. Both CLIs decide by these whether an agent may call a tool without a confirmation. */
  readonly hints: Hints;
  /** JSON Schema of its arguments. */
  schema(): Readonly<Record<string, unknown>>;
  /** `key`: the same for a repeated call. Throws SquadError if the ledger cannot be used. */
  call(context: ToolContext, given: unknown, key: string): ToolAnswer;
}

interface ToolOf<S extends z.ZodObject> extends Pick<MailTool, 'name' | 'description' | 'verb' | 'answers'> {
  readonly reads?: true;
  /** A second call changes nothing. */
  readonly repeatable?: true;
  readonly input: S;
  /** May refuse the call. A refusal of the mailbox, which has recorded it, is an answer. */
  run(context: ToolContext, given: z.infer<S>, key: string): ToolAnswer;
}

/** A tool that gets only arguments of its schema. Every refusal is on record. */
export function defineTool<S extends z.ZodObject>(tool: ToolOf<S>): MailTool {
  const { name, description, verb, answers, reads, repeatable, input } = tool;
  return {
    name,
    description,
    verb,
    answers,
    hints: {
      ...(reads && { readOnlyHint: true }),
      destructiveHint: false,
      ...(repeatable && { idempotentHint: true }),
      openWorldHint: false,
    },
    schema: () => publicSchema(input),
    call: (context, given, key) => {
      const called = catchRefusal(() => tool.run(context, readArguments(name, input, given), key));
      if (called.ok) return called.value;
      context.mail.refuse(context.party, called.refusal);
      return called;
    },
  };
}

/**
 * Reads arguments by their schema. A model may write `null` for an argument that it leaves out. Unknown arguments are refused
 * by name, if the name looks like one: no caller may say who it is.
 */
function readArguments<S extends z.ZodObject>(tool: string, input: S, given: unknown): z.infer<S> {
  const raw = given ?? {};
  if (!isJsonObject(raw)) refuse('invalid_format', '', 'must be one JSON object');
  const known = Object.keys(input.shape);
  const unknown = Object.keys(raw).find((key) => !known.includes(key));
  if (unknown !== undefined) {
    const rule = `is not an argument of ${tool}, which has: ${known.join(', ') || 'none'}`;
    refuse('invalid_format', shownName(unknown), rule);
  }
  const said = Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== null));
  const read = input.safeParse(said);
  return read.success ? read.data : refuseIssue(read.error, said);
}
