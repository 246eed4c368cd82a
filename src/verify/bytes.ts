/** A whole number in 1, 2, 4 or 8 bytes, the lowest first. @throws RangeError if it does not fit */
export const littleEndian = (size: 1 | 2 | 4 | 8, value: bigint | number): Uint8Array => {
  const whole = BigInt(value);
  if (BigInt.asUintN(size * 8, whole) !== whole) throw new RangeError(`${whole} does not fit in ${size} bytes`);
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, whole, true);
  return bytes.subarray(0, size);
};
