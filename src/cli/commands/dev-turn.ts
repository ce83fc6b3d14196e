import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { compose } from '../../compose.ts';
import { SquadError } from '../../model/errors.ts';
import { jsonSchema, type Json } from '../../text/json.ts';
import { RUNTIME_NAMES } from '../../model/runtime-name.ts';
import { DEFAULT_TURN_LIMITS } from '../../model/turn-request.ts';
import { resumeSingleTurn, startSingleTurn, type SingleTurnPorts } from '../../single-turn.ts';
import type { CommandContext, DevTurnOptions } from '../command-context.ts';
import { showTurn, turnListeners } from './show-turn.ts';

/** Exit codes as for a run: 0 completed, 1 failed, 4 waiting for a reset, 130/143 interrupted. */
export async function devTurn(
  context: CommandContext,
  prompt: string | undefined,
  options: DevTurnOptions,
): Promise<void> {
  const { host, output } = context;
  const composition = compose(host);
  const choice = {
    ...(options.binary === undefined ? {} : { binary: resolve(options.binary) }),
    allowEnvironment: options.env ?? [],
    config: readConfig(options.config ?? []),
  };
  const ports: SingleTurnPorts = {
    ...composition,
    host,
    runtimeFor: (name) => {
      const known = RUNTIME_NAMES.find((candidate) => candidate === name);
      return known === undefined ? undefined : composition.runtime(known, choice);
    },
    letThrough: options.env ?? [],
    ...turnListeners(output, options.json === true),
  };
  const repository = resolve(options.repo);
  if (options.resume !== undefined && options.resume !== false) {
    const attempt = options.resume === true ? undefined : options.resume;
    return showTurn(context, await resumeSingleTurn(ports, repository, attempt), options.json === true);
  }
  const request = {
    prompt: await readPrompt(prompt, options),
    instructions: options.instructions,
    access: { level: options.access },
    mcp: [],
    ...(options.model === undefined ? {} : { model: options.model }),
    ...(options.schema === undefined ? {} : { outputSchema: await readSchema(options.schema) }),
    limits: { ...DEFAULT_TURN_LIMITS, wallMs: toMs(options.minutes), idleMs: toMs(options.idleMinutes) },
  };
  const running = await startSingleTurn(ports, repository, {
    runtime: options.runtime,
    retries: options.retries,
    request,
  });
  return showTurn(context, running, options.json === true);
}

async function readPrompt(prompt: string | undefined, options: DevTurnOptions): Promise<string> {
  if (options.promptFile !== undefined) return readInput(options.promptFile, '--prompt-file');
  if (prompt !== undefined && prompt !== '-') return prompt;
  const piped = await readAll(process.stdin);
  if (piped.trim() !== '') return piped;
  throw new SquadError({
    code: 'usage',
    message: 'there is no prompt',
    next: 'Give it as an argument, with --prompt-file, or on stdin.',
  });
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
    const why = error instanceof Error ? error.message : String(error);
    throw new SquadError({
      code: 'bad-input',
      message: `${option} ${path}: ${why}`,
      next: 'Name a file that can be read.',
      cause: error,
    });
  }
}

/** `key=value`, the value as JSON where it is JSON. */
function readConfig(pairs: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at <= 0)
        throw new SquadError({
          code: 'usage',
          message: `--config ${pair} is not key=value`,
          next: 'Example: --config model="x"',
        });
      const value = pair.slice(at + 1);
      return [pair.slice(0, at), parseOr(value)];
    }),
  );
}

function parseOr(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Plain text is a value too.
    return text;
  }
}

function toMs(minutes: number): number {
  return Math.ceil(minutes * 60_000);
}
