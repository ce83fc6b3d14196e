import { createLineSplitter } from '../src/substrate/system/process/splitter.ts';
import { perSecond, type Bench } from './shared/row.ts';

const MEGABYTES = 256;

/** Lines of 200 bytes, decoded, against a scan for the newlines in the same chunks. */
export const splitter: Bench = {
  name: 'splitter',
  run: async () => {
    const chunk = Buffer.from(`${'x'.repeat(199)}\n`.repeat(5000)).subarray(0, 64 * 1024);
    const chunks = Math.round((MEGABYTES * 1024 * 1024) / chunk.length);
    const lines = createLineSplitter();
    let seen = 0;
    const squad = perSecond(MEGABYTES, () => {
      for (let index = 0; index < chunks; index += 1) for (const _ of lines.push(chunk)) seen += 1;
    });
    const bare = perSecond(MEGABYTES, () => {
      for (let index = 0; index < chunks; index += 1) {
        for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) seen -= 1;
      }
    });
    if (seen !== 0) throw new Error(`the splitter saw ${seen} lines more than there are`);
    return [{ name: 'lines, against a scan for newlines', unit: 'MB/s', squad, bare, ratio: bare / squad }];
  },
};
