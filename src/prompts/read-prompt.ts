import { z } from 'zod';
import { endOfFrontMatter } from '../text/front-matter.ts';
import { parseYaml, type YamlResult } from '../text/yaml-file.ts';
import { FACTS, type FactName } from './facts.ts';

const headSchema = z.strictObject({
  role: z.string(),
  occasion: z.string(),
  /** The facts that the body may name. */
  needs: z.array(z.enum(Object.keys(FACTS) as [FactName, ...FactName[]])),
  /** Bytes of its own text at most. */
  budget: z.int().positive(),
  /** Hash of squad's own body when `squad prompts eject` wrote the file. */
  from: z
    .string()
    .regex(/^[0-9a-f]{12}$/, 'is no hash of twelve digits')
    .optional(),
});

export interface PromptFile extends z.infer<typeof headSchema> {
  readonly body: string;
}

const EXAMPLE = 'role: builder\noccasion: instructions\nneeds: []\nbudget: 1200';

/** Without a byte order mark, and with the line ends of squad. */
export function plainLines(text: string): string {
  return text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n');
}

/** A prompt as its file says it: a head between `---`, and the body below it. */
export function readPrompt(text: string, file: string): YamlResult<PromptFile> {
  const lines = plainLines(text).split('\n');
  const end = endOfFrontMatter(lines) ?? -1;
  if (end < 0) {
    const message = 'a prompt begins with a head between two lines `---`';
    return { ok: false, problems: [{ file, line: 1, message, example: `---\n${EXAMPLE}\n---\nYour role is …` }] };
  }
  const head = { file, text: lines.slice(1, end).join('\n'), firstLine: 2, examples: { '': EXAMPLE } };
  const read = parseYaml(head, headSchema);
  const body = lines
    .slice(end + 1)
    .join('\n')
    .trim();
  return read.ok ? { ok: true, value: { ...read.value, body } } : read;
}
