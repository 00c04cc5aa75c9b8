/** What the provider uses of the client. Named here, so that all else of it stays out of the bundle. */
export { BedrockRuntimeClient, ConverseCommand } from '@aws-sdk/client-bedrock-runtime';
