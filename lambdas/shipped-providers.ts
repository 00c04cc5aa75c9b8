/** `stepwell/providers`: providers of external effects that need no code but their options. */
export {
  type BedrockConverseProviderOptions,
  bedrockConverseProvider,
} from './providers/bedrock-converse.ts';
export {
  type HttpJsonOperation,
  type HttpJsonProviderOptions,
  httpJsonProvider,
} from './providers/http-json.ts';
export { type SesEmailProviderOptions, sesEmailProvider } from './providers/ses-email.ts';
