import Mustache from 'mustache';
import { endOfFrontMatter } from '../text/front-matter.ts';
import { nearest } from '../text/nearest.ts';
import { orderProblems, quote, type Problem } from '../text/problem.ts';
import { placeIn, type YamlResult } from '../text/yaml-file.ts';
import type { FactName } from './facts.ts';
import { plainLines, readPrompt, type PromptFile } from './read-prompt.ts';
import type { PromptName } from './render.ts';
import { PROMPTS } from './shipped.ts';

export const PROMPT_NAMES = Object.keys(PROMPTS) as readonly PromptName[];

export function isPromptName(name: string): name is PromptName {
  return Object.hasOwn(PROMPTS, name);
}

/** Bytes of a body without its tags, which is what a budget counts. */
export function ownBytes(body: string): number {
  return Buffer.byteLength(body.replaceAll(/\{\{[^}]*\}\}/g, ''));
}

/** A file that takes the place of squad's prompt of that name, or all that is wrong with it. */
export function readChange(name: PromptName, text: string, file: string): YamlResult<PromptFile> {
  const read = readPrompt(text, file);
  if (!read.ok) return read;
  const { role, needs, body } = read.value;
  const whole = plainLines(text);
  const lines = whole.split('\n');
  const head = lines.slice(1, endOfFrontMatter(lines)).join('\n');
  const inHead = (path: readonly PropertyKey[], message: string): Problem => {
    const { line, column } = placeIn(head, path);
    return { file, line: line + 1, column, message };
  };
  const own = PROMPTS[name];
  const wrong = `role must be “${own.role}”, not ${quote(role)}: it is that of ${name}`;
  const first = whole.slice(0, whole.trimEnd().length - body.length).split('\n').length;
  const problems = [
    ...(role === own.role ? [] : [inHead(['role'], wrong)]),
    ...needs.flatMap((need, index) =>
      isFactOf(name, need) ? [] : [inHead(['needs', index], `needs[${index}]: ${unknownFact(name, need)}`)],
    ),
    ...bodyProblems(name, body, file).map((problem) => ({ ...problem, line: first + problem.line - 1 })),
  ];
  return problems.length === 0 ? read : { ok: false, problems: orderProblems(problems) };
}

/** Problems of a body that takes the place of squad's. Lines count from its first one. */
export function bodyProblems(name: PromptName, body: string, file: string): Problem[] {
  const refuse = (index: number, message: string): Problem => {
    const lines = body.slice(0, index).split('\n');
    return { file, line: lines.length, column: (lines.at(-1) ?? '').length + 1, message: `body: ${message}` };
  };
  if (body.trim() === '') return [refuse(0, 'there is no text; remove the file to use squad’s own')];
  const control = body.search(/[\u0000-\u0008\u000b-\u001f\u007f]/);
  if (control >= 0) return [refuse(control, 'contains a control character; is it a text file?')];
  try {
    return tagsIn(Mustache.parse(body) as readonly Token[]).flatMap(({ kind, tag, index }) => {
      if (kind === '>' || kind === '=') return [refuse(index, `a tag {{${kind} … is not supported`)];
      if (tag === '.' || isFactOf(name, tag.replace(/\.length$/, ''))) return [];
      return [refuse(index, unknownFact(name, tag))];
    });
  } catch (error) {
    return [refuse(...brokenTag(body, error))];
  }
}

type Token = readonly [kind: string, value: string, start: number, end: number, inside?: unknown];

/** Each tag that names something, also those within sections. */
function tagsIn(tokens: readonly Token[]): { readonly kind: string; readonly tag: string; readonly index: number }[] {
  return tokens.flatMap(([kind, tag, index, , inside]) => {
    if (kind === 'text' || kind === '!') return [];
    return [{ kind, tag, index }, ...(Array.isArray(inside) ? tagsIn(inside as readonly Token[]) : [])];
  });
}

/** Where Mustache stopped, and why, in words that name the tag. */
function brokenTag(body: string, error: unknown): [index: number, message: string] {
  const said = error instanceof Error ? error.message : String(error);
  const [, what = said, at = '0'] = /^(.*) at (\d+)$/.exec(said) ?? [];
  const [, tag = ''] = /^Unclosed section "(.*)"$/.exec(what) ?? [];
  if (tag === '') return [Math.min(Number(at), body.length), `is no Mustache: ${what.toLowerCase()}`];
  const begun = Math.max(body.lastIndexOf(`{{#${tag}}}`), body.lastIndexOf(`{{^${tag}}}`), 0);
  return [begun, `the section ${tag} is not closed; end it with {{/${tag}}}`];
}

function isFactOf(name: PromptName, fact: string): fact is FactName {
  return (PROMPTS[name].needs as readonly string[]).includes(fact);
}

function unknownFact(name: PromptName, fact: string): string {
  const known: readonly string[] = PROMPTS[name].needs;
  if (known.length === 0) return `${quote(fact)} is no fact of ${name}, which has none`;
  const close = nearest(fact, known);
  const hint = close === undefined ? `; it has ${known.join(', ')}` : `; did you mean “${close}”?`;
  return `${quote(fact)} is no fact of ${name}${hint}`;
}
