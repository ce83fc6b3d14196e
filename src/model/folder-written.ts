import { z } from 'zod';

/** squad wrote the files of a run's folder when its work there ended. `problem`: why they are not complete. */
export const folderWrittenSchema = z.object({ folder: z.string(), problem: z.string().nullable() });
export type FolderWritten = z.infer<typeof folderWrittenSchema>;

/** The sentence for a person about it. */
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
