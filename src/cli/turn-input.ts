import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { errorText, SquadError, usageError } from '../model/errors.ts';
import type { TurnSpec } from '../preflight/turn-definition.ts';
import { parseJson, type Json } from '../text/json.ts';
import { jsonSchema } from '../text/json-schema.ts';
import type { DevTurnOptions } from './command-context.ts';

/** The request to `squad dev turn`, with its files and stdin read. Relative paths start at the working directory. */
export async function readTurnSpec(
  prompt: string | undefined,
  options: DevTurnOptions,
  workingDirectory: string,
): Promise<TurnSpec> {
  const { binary, schema, promptFile, env = [], config = [] } = options;
  const located = (path: string): string => resolve(workingDirectory, path);
  return {
    ...options,
    prompt: promptFile === undefined ? await readPrompt(prompt) : await readInput(located(promptFile), '--prompt-file'),
    binary: binary === undefined ? undefined : located(binary),
    schema: schema === undefined ? undefined : await readSchema(located(schema)),
    env,
    config: readConfig(config),
  };
}

async function readPrompt(prompt: string | undefined): Promise<string> {
  if (prompt !== undefined && prompt !== '-') return prompt;
  const piped = await readAll(process.stdin);
  if (piped.trim() !== '') return piped;
  throw usageError('there is no prompt', 'Give it as an argument, with --prompt-file, or on stdin.');
}

async function readSchema(path: string): Promise<Record<string, Json>> {
  const text = await readInput(path, '--schema');
  try {
    const value = jsonSchema.parse(JSON.parse(text));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch (error) {
    throw badSchema(path, error);
  }
  throw badSchema(path);
}

function badSchema(path: string, cause?: unknown): SquadError {
  const why = cause instanceof Error ? `: ${cause.message}` : '';
  return new SquadError({
    code: 'bad-input',
    message: `${path} is not a JSON Schema object${why}`,
    next: 'Example: {"type":"object"}',
    cause,
  });
}

async function readInput(path: string, option: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new SquadError({
      code: 'bad-input',
      message: `${option} ${path}: ${errorText(error)}`,
      next: 'Name a file that can be read.',
      cause: error,
    });
  }
}

/** `key=value` pairs. A value that is no JSON is text. */
function readConfig(pairs: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at <= 0) throw usageError(`--config ${pair} is not key=value`, 'Example: --config model="x"');
      const value = pair.slice(at + 1);
      const json = parseJson(value);
      return [pair.slice(0, at), json === undefined ? value : json];
    }),
  );
}
