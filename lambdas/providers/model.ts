import { bedrockConverseProvider } from './bedrock-converse.ts';

/** Answers questions. */
export const model = bedrockConverseProvider({ name: 'Model' });

/** What its function carries. */
export const providers = [model];
