import { z } from 'zod';
import { ISSUE_CATEGORIES, ISSUE_SEVERITIES } from './vocabulary.ts';
import { pathSchema, wordsSchema } from './wire-text.ts';

const lineSchema = z.int().positive();

const spanSchema = z
  .looseObject({ start_line: lineSchema.describe('The first line.'), end_line: lineSchema.describe('The last line.') })
  .superRefine(({ start_line, end_line }, context) => {
    if (start_line <= end_line) return;
    context.addIssue({ code: 'custom', path: ['end_line'], message: 'is not before start_line' });
  });

/** One thing that a reviewer found. Its fields stand in the order in which the protocol recommends them. */
export const issueSchema = z
  .looseObject({
    issue_group: wordsSchema.exactOptional().describe('Issues of the same group are one and the same.'),
    doc_path: pathSchema.exactOptional().describe('Where in the documentation.'),
    doc_paths: z.array(pathSchema).exactOptional().describe('More such places; sorted by path, then by line.'),
    code_path: pathSchema.exactOptional().describe('Where in the code.'),
    code_paths: z.array(pathSchema).exactOptional().describe('More such places; sorted by path, then by line.'),
    code_span: spanSchema.exactOptional().describe('`{start_line, end_line}`'),
    category: z.enum(ISSUE_CATEGORIES).describe('What it is about.'),
    severity: z.enum(ISSUE_SEVERITIES).describe('How much it matters.'),
    summary: wordsSchema.describe('What is wrong.'),
    suggestion: wordsSchema.describe('What to do about it.'),
  })
  .superRefine(({ doc_path, doc_paths, code_path, code_paths }, context) => {
    const places = [doc_path, ...(doc_paths ?? []), code_path, ...(code_paths ?? [])];
    if (places.some((place) => place !== undefined)) return;
    context.addIssue({
      code: 'custom',
      path: ['doc_path'],
      message: 'is required, unless another path says where it is',
    });
  });
