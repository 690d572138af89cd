/* SPDX-License-Identifier: MIT */
/*
 * Softmax regression by stochastic gradient descent: rows of inputs numbers, classes. weight holds for each class one number
 * for each input and one more that is added. Each sum is made by one work-item in one order, so that a run can be repeated.
 */

/* Axis 0: classes, axis 1: rows. */
__kernel void score(__global const float *number, __global const float *weight, __global float *scores, uint inputs)
{
    uint class = get_global_id(0), row = get_global_id(1), classes = get_global_size(0);
    __global const float *x = number + (size_t)row * inputs, *w = weight + (size_t)class * (inputs + 1);
    float sum = w[inputs];

    for (uint i = 0; i < inputs; i++)
        sum += x[i] * w[i];
    scores[row * classes + class] = sum;
}

/*
 * Axis 0: rows. Scores become how far each class is from the truth. Labels are integers of so many bytes, from byte first
 * on; for each row its loss, and whether the highest score was right.
 */
__kernel void judge(__global float *scores, __global const uchar *labels, ulong first, uint bytes, uint classes,
                    __global float *losses, __global float *rights)
{
    uint row = get_global_id(0), best = 0;
    __global float *s = scores + (size_t)row * classes;
    __global const uchar *at = labels + first + (size_t)row * bytes;
    uint label = bytes == 8 ? (uint) * (__global const long *)at : (uint) * (__global const int *)at;
    float sum = 0, truth = s[label < classes ? label : 0];

    for (uint c = 1; c < classes; c++)
        best = s[c] > s[best] ? c : best;
    float most = s[best];
    for (uint c = 0; c < classes; c++)
        sum += exp(s[c] - most);
    for (uint c = 0; c < classes; c++)
        s[c] = exp(s[c] - most) / sum - (c == label ? 1.0f : 0.0f);
    losses[row] = log(sum) + most - truth;
    rights[row] = best == label ? 1.0f : 0.0f;
}

/* Axis 0: inputs and the one that is added, axis 1: classes. */
__kernel void learn(__global const float *number, __global const float *error, __global float *weight, uint rows,
                    uint inputs, float rate)
{
    uint input = get_global_id(0), class = get_global_id(1), classes = get_global_size(1);
    float sum = 0;

    for (uint row = 0; row < rows; row++)
        sum += error[row * classes + class] * (input < inputs ? number[(size_t)row * inputs + input] : 1.0f);
    weight[(size_t)class * (inputs + 1) + input] -= rate / rows * sum;
}

/* One work-item: adds to the sums since they were read last. */
__kernel void count(__global const float *losses, __global const float *rights, uint rows, __global float *sums)
{
    for (uint row = 0; row < rows; row++) {
        sums[0] += losses[row];
        sums[1] += rights[row];
    }
    sums[2] += rows;
}
