import type { Objective } from '../model/objective.ts';
import { orderProblems, type Problem } from '../text/problem.ts';
import { splitFrontMatter } from './front-matter.ts';
import { readParts, WHOLE } from './parts.ts';
import { readSections } from './sections.ts';

export type ObjectiveResult = { ok: true; objective: Objective } | { ok: false; problems: Problem[] };

const MAX_BYTES = 512 * 1024;
/**
 * Parses the text of an objective file into the objective, or into all its problems in the file's order. A title, a goal and a
 * success criterion are required. Other text becomes context. Agents get the whole text.
 */
export function parseObjective(text: string, fileName: string): ObjectiveResult {
  const refuse = (line: number, message: string, example?: string): ObjectiveResult => ({
    ok: false,
    problems: [{ file: fileName, line, message, ...(example === undefined ? {} : { example }) }],
  });
  if (text.length > MAX_BYTES || new TextEncoder().encode(text).byteLength > MAX_BYTES) {
    return refuse(1, `larger than ${MAX_BYTES / 1024} KiB; put the details into files of the repository and name them`);
  }
  const normal = text.replace(/^\ufeff/, '').replaceAll(/\r\n?/g, '\n');
  const nul = normal.indexOf('\0');
  if (nul >= 0)
    return refuse(normal.slice(0, nul).split('\n').length, 'contains a NUL character; an objective is a text file');
  const { frontMatter, problems, lines } = splitFrontMatter(normal.split('\n'), fileName);
  if (lines.every((line) => line.trim() === '')) return refuse(1, 'there is no objective in this file', WHOLE);

  const read = readParts(readSections(lines), lines, fileName);
  const all = [...problems, ...read.problems];
  if (all.length > 0) return { ok: false, problems: orderProblems(all) };
  return { ok: true, objective: { file: fileName, ...read.parts, frontMatter, text } };
}
