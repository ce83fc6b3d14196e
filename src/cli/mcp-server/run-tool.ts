import { z } from 'zod';
import { isSquadError, usageError } from '../../model/errors.ts';
import { machineError } from '../../model/storage-error.ts';
import type { LimitOptions } from '../../model/limit-table.ts';
import { isJsonObject } from '../../text/json.ts';
import { plainLine, plainText } from '../../text/plain-text.ts';
import type { CommandContext } from '../command-context.ts';
import type { Allowed } from '../option-values.ts';
import { publicSchema } from '../mcp/public-schema.ts';
import type { Caller, Hints, ListedTool, ToolResult } from '../mcp/wire.ts';

/** The place, and what its owner allows. */
export interface ToolContext {
  readonly command: CommandContext;
  readonly allowed: ReadonlySet<Allowed>;
  /** Limits of each run that starts here. */
  readonly limits: LimitOptions;
}

interface Answer<Found> {
  /** Short, for the model. */
  readonly text: string;
  readonly found: Found;
}

interface RunToolOf<Input extends z.ZodObject, Found extends z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly hints: Hints;
  readonly input: Input;
  readonly output: Found;
  run(context: ToolContext, given: z.infer<Input>, caller: Caller): Promise<Answer<z.infer<Found>>>;
}

/** A tool of `squad mcp-server`. */
export interface RunTool {
  list(): ListedTool;
  call(context: ToolContext, given: unknown, caller: Caller): Promise<ToolResult>;
}

/** A tool that gets only arguments of its schema, and whose refusals are a sentence and the next step. */
export function defineRunTool<Input extends z.ZodObject, Found extends z.ZodObject>(
  tool: RunToolOf<Input, Found>,
): RunTool {
  const { name, title, description, hints, input, output } = tool;
  return {
    list: () => ({
      name,
      title,
      description,
      inputSchema: { type: 'object', ...publicSchema(input) },
      outputSchema: { type: 'object', ...publicSchema(output, 'output') },
      annotations: hints,
    }),
    call: async (context, given, caller) => {
      try {
        const { text, found } = await tool.run(context, readArguments(name, input, given), caller);
        return { content: textOf(text), structuredContent: output.parse(found) };
      } catch (thrown) {
        const error = machineError(thrown);
        // Anything else is a bug, which the client reports as one.
        if (!isSquadError(error)) throw error;
        return refused(error);
      }
    },
  };
}

/** A refusal as a program or a model reads it. */
function refused({ message, next }: { readonly message: string; readonly next?: string | undefined }): ToolResult {
  return { isError: true, content: textOf(next === undefined ? message : `${message}\nNext: ${next}`) };
}

/** A model may write `null` for an argument that it leaves out. */
function readArguments<Input extends z.ZodObject>(tool: string, input: Input, given: unknown): z.infer<Input> {
  const raw = given ?? {};
  const said = isJsonObject(raw) ? Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== null)) : raw;
  const read = input.safeParse(said);
  if (read.success) return read.data;
  const { path = [], message = 'they cannot be read' } = read.error.issues[0] ?? {};
  throw usageError(
    `the arguments of ${tool} are wrong: ${path.length === 0 ? '' : `${path.join('.')}: `}${plainLine(message)}`,
    `Call it again. It takes: ${Object.keys(input.shape).join(', ') || 'nothing'}.`,
  );
}

function textOf(text: string): ToolResult['content'] {
  return [{ type: 'text', text: plainText(text) }];
}

/** Arguments of many tools. */
export const RUN = z
  .string()
  .min(1)
  .max(200)
  .exactOptional()
  .describe('Its name. Default: the one that is running, or the newest.');
