import { pathToFileURL } from 'node:url';
import { MAIL_SERVER } from '../../compose.ts';

/** The mail server of one turn, in this process: it reads the command line itself. */
export async function mcp(): Promise<void> {
  await import(pathToFileURL(MAIL_SERVER).href);
}
