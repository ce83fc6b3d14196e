import { z } from 'zod';
import { isJsonObject, type Json } from '../../text/json.ts';
import type { MailRefusal } from '../../model/mail/refusal.ts';
import { issueRefusal } from '../../model/mail/shape.ts';
import type { MailVerb } from '../../model/mail/kind.ts';
import type { Mailbox, MailParty } from '../../substrate/ports/mailbox.ts';

/** What a tool works on: the mailbox, and who is calling. */
export interface ToolDesk {
  readonly mail: Mailbox;
  readonly party: MailParty;
  now(): number;
}

export type ToolAnswer =
  | { readonly ok: true; readonly content: Readonly<Record<string, Json>> }
  | { readonly ok: false; readonly refusal: MailRefusal };

/** How an agent may use it unattended: both CLIs decide by these hints. */
interface Hints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: false;
  readonly idempotentHint: boolean;
  readonly openWorldHint: false;
}

/** One tool of the server, whatever its arguments are. */
export interface MailTool {
  readonly name: string;
  readonly description: string;
  /** Whoever has one of these may see it; null: everybody. */
  readonly verbs: readonly MailVerb[] | null;
  readonly hints: Hints;
  /** JSON Schema of its arguments. */
  schema(): Readonly<Record<string, unknown>>;
  /** `key`: the same for a call that is repeated. Throws SquadError where the ledger cannot be used. */
  call(desk: ToolDesk, given: unknown, key: string): ToolAnswer;
}

interface ToolOf<S extends z.ZodObject> {
  readonly name: string;
  readonly description: string;
  readonly verbs: readonly MailVerb[] | null;
  readonly reads?: true;
  /** Calling it again changes nothing more. */
  readonly repeatable?: true;
  readonly input: S;
  run(desk: ToolDesk, given: z.infer<S>, key: string): ToolAnswer;
}

/** A tool that is called with what its schema allows, and whose refusals are all on record. */
export function defineTool<S extends z.ZodObject>(tool: ToolOf<S>): MailTool {
  const { name, description, verbs, reads, repeatable, input } = tool;
  return {
    name,
    description,
    verbs,
    hints: {
      readOnlyHint: reads === true,
      destructiveHint: false,
      idempotentHint: repeatable === true,
      openWorldHint: false,
    },
    schema: () => publicSchema(input),
    call: (desk, given, key) => {
      const read = readArguments(name, input, given);
      if (read.ok) return tool.run(desk, read.value, key);
      desk.mail.refuse(desk.party, read.refusal);
      return read;
    },
  };
}

/**
 * Arguments by their schema. A model may write `null` for what it leaves out. Whatever is no argument is refused by name, as
 * long as it looks like one: nobody may say who they are.
 */
function readArguments<S extends z.ZodObject>(
  tool: string,
  input: S,
  given: unknown,
): { ok: true; value: z.infer<S> } | { ok: false; refusal: MailRefusal } {
  const raw = given ?? {};
  if (!isJsonObject(raw)) return invalid('', 'is one JSON object');
  const known = Object.keys(input.shape);
  const unknown = Object.keys(raw).find((key) => !known.includes(key));
  if (unknown !== undefined) {
    const shown = /^[A-Za-z][A-Za-z0-9_]{0,31}$/.test(unknown) ? unknown : '';
    return invalid(shown, `is no argument of ${tool}; those are: ${known.join(', ') || 'none'}`);
  }
  const said = Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== null));
  const read = input.safeParse(said);
  return read.success ? { ok: true, value: read.data } : { ok: false, refusal: issueRefusal(read.error, said) };
}

export function invalid(field: string, rule: string): { ok: false; refusal: MailRefusal } {
  return { ok: false, refusal: { reason: 'invalid_format', field, rule } };
}

/** Without what only checks: every request to a model carries this, and not every model's API takes every pattern. */
function publicSchema(input: z.ZodObject): Readonly<Record<string, unknown>> {
  const { $schema: _, ...schema } = z.toJSONSchema(input, {
    io: 'input',
    override: ({ jsonSchema }) => {
      delete jsonSchema.pattern;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return schema;
}
