"""Makes images like those of MNIST, of printed digits: python3 make_digits.py FILE"""

import sys

import numpy

COUNT = 6000
# Of each digit seven rows of five points.
FONT = """0e11131519110e 040c040404040e 0e11010204081f 1f02040201110e 02060a121f0202
          1f101e0101110e 0608101e11110e 1f010204080808 0e11110e11110e 0e11110f01020c"""


def main():
    """Print each digit somewhere in the image, in some brightness, on paper that is not clean."""
    digits = [[[row >> bit & 1 for bit in range(4, -1, -1)] for row in bytes.fromhex(rows)] for rows in FONT.split()]
    large = numpy.kron(digits, numpy.ones((1, 3, 3)))
    random = numpy.random.default_rng(1)
    labels = random.integers(0, 10, COUNT).astype("uint8")
    images = random.integers(0, 64, (COUNT, 28, 28)).astype("uint8")
    for image, label in zip(images, labels):
        y, x = random.integers(0, 8), random.integers(0, 14)
        image[y : y + 21, x : x + 15] += (large[label] * random.integers(96, 192)).astype("uint8")
    numpy.savez(sys.argv[1], x_train=images, y_train=labels)


if __name__ == "__main__":
    main()
