import { z } from 'zod';

/** What squad found as it wrote the folder of a run at the end of its work there. `problem`: why the files are not complete. */
export const folderWrittenSchema = z.object({ folder: z.string(), problem: z.string().nullable() });
export type FolderWritten = z.infer<typeof folderWrittenSchema>;

/** What a person reads of it. */
export function folderText({ folder, problem }: FolderWritten, name: string): string {
  if (problem === null) return `wrote the files in ${folder} again: they are complete`;
  return `the files in ${folder} are not complete: ${problem}. ${writeAgainText(name)}`;
}

export function writeAgainText(name: string): string {
  return `\`${writeAgainCommand(name)}\` writes them again`;
}

export function writeAgainCommand(name: string): string {
  return `squad resume ${name}`;
}
