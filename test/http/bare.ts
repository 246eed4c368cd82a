/** A refusal without the list of what is allowed, which follows its first words. */
export const bare = (body: unknown): unknown => {
  const { message, ...rest } = body as { message: string };
  return { ...rest, message: message.replace(/(is not allowed|is not known|is not an option); .*$/s, "$1") };
};
