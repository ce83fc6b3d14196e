export { plainLine, plainText } from '../../model/plain-text.ts';
