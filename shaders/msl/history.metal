// language: metal2.4
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size0;
    uint size2;
    uint size3;
    uint size6;
    uint size7;
    uint size8;
    uint size9;
    uint size10;
};

struct Tile {
    uint segment;
    uint first;
    uint length;
    uint number;
    uint param;
    uint grad;
    uint copy;
};
typedef Tile type_1[1];
struct type_8 {
    metal::float2 inner[256];
};
struct Sum {
    metal::float2 norm;
    float inverse;
    float unit;
};
typedef metal::uint2 type_11[1];
typedef metal::float2 type_12[1];
struct type_13 {
    uint inner[9];
};
struct type_14 {
    uint inner[14];
};
typedef metal::float4 type_15[1];
typedef metal::uint4 type_16[1];
constant uint WIDTH = 256u;
constant uint HEAD = 5u;

uint unfold(
    metal::uint3 group_3,
    metal::uint3 grid_3
) {
    return (group_3.y * grid_3.x) + group_3.x;
}

Tile tile_of(
    metal::uint3 group_4,
    metal::uint3 grid_4,
    device type_1 const& tiles,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e2 = unfold(group_4, grid_4);
    if (_e2 >= (1 + (_buffer_sizes.size0 - 0 - 28) / 28)) {
        return Tile {};
    }
    Tile _e9 = tiles[_e2];
    return _e9;
}

bool inside(
    Tile tile,
    uint lane_3
) {
    return (lane_3 * 4u) < tile.length;
}

metal::bool4 finite(
    metal::uint4 bits
) {
    return (bits & metal::uint4(2139095040u)) != metal::uint4(2139095040u);
}

uint naga_div(uint lhs, uint rhs) {
    return lhs / metal::select(rhs, 1u, rhs == 0u);
}

metal::float2 sum_over_workgroup(
    uint lane_4,
    metal::float2 value,
    threadgroup type_8& sums
) {
    uint span = 128u;
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    sums.inner[lane_4] = value;
    uint2 loop_bound = uint2(4294967295u);
    bool loop_init = true;
    while(true) {
        if (metal::all(loop_bound == uint2(0u))) { break; }
        loop_bound -= uint2(loop_bound.y == 0u, 1u);
        if (!loop_init) {
            uint _e20 = span;
            span = naga_div(_e20, 2u);
        }
        loop_init = false;
        uint _e6 = span;
        if (_e6 > 0u) {
        } else {
            break;
        }
        {
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            uint _e9 = span;
            if (lane_4 < _e9) {
                metal::float2 _e13 = sums.inner[lane_4];
                uint _e15 = span;
                metal::float2 _e18 = sums.inner[lane_4 + _e15];
                sums.inner[lane_4] = _e13 + _e18;
            }
        }
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    metal::float2 _e25 = sums.inner[0];
    return _e25;
}

metal::float2 max_over_workgroup(
    uint lane_5,
    metal::float2 value_1,
    threadgroup type_8& sums
) {
    uint span_1 = 128u;
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    sums.inner[lane_5] = value_1;
    uint2 loop_bound_1 = uint2(4294967295u);
    bool loop_init_1 = true;
    while(true) {
        if (metal::all(loop_bound_1 == uint2(0u))) { break; }
        loop_bound_1 -= uint2(loop_bound_1.y == 0u, 1u);
        if (!loop_init_1) {
            uint _e22 = span_1;
            span_1 = naga_div(_e22, 2u);
        }
        loop_init_1 = false;
        uint _e6 = span_1;
        if (_e6 > 0u) {
        } else {
            break;
        }
        {
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            uint _e9 = span_1;
            if (lane_5 < _e9) {
                metal::float2 _e15 = sums.inner[lane_5];
                uint _e17 = span_1;
                metal::float2 _e20 = sums.inner[lane_5 + _e17];
                sums.inner[lane_5] = metal::max(_e15, _e20);
            }
        }
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    metal::float2 _e27 = sums.inner[0];
    return _e27;
}

float unit_for(
    float divisor
) {
    return (divisor > 1000000000000000000000000000000.0) ? 0.00000000000000000005421011 : 1.0;
}

float squares_of(
    metal::float2 norm
) {
    return (norm.y < 0.0) ? (-1.0 - norm.y) : norm.y;
}

float rescaled(
    metal::float2 norm_1,
    float largest
) {
    if (norm_1.x < 0.000000000000000000000000000000000000012) {
        return 0.0;
    }
    float _e6 = unit_for(largest);
    float part = (norm_1.x * _e6) / (largest * _e6);
    float _e11 = squares_of(norm_1);
    return (_e11 * part) * part;
}

metal::float2 marked(
    float largest_1,
    float squares,
    bool bad
) {
    return metal::float2(largest_1, bad ? (-1.0 - squares) : squares);
}

Sum add_squares(
    Sum sum_1,
    metal::float4 g
) {
    Sum now = {};
    bool local_1 = {};
    now = sum_1;
    float largest_2 = metal::max(metal::max(g.x, g.y), metal::max(g.z, g.w));
    float _e12 = now.norm.x;
    if (largest_2 > _e12) {
        local_1 = largest_2 >= 0.000000000000000000000000000000000000012;
    } else {
        local_1 = false;
    }
    bool _e19 = local_1;
    if (_e19) {
        metal::float2 _e22 = now.norm;
        float _e23 = rescaled(_e22, largest_2);
        now.norm = metal::float2(largest_2, _e23);
        float _e26 = unit_for(largest_2);
        now.unit = _e26;
        float _e29 = now.unit;
        now.inverse = 1.0 / (largest_2 * _e29);
    }
    float _e34 = now.unit;
    float _e37 = now.inverse;
    metal::float4 part_1 = (g * _e34) * _e37;
    float _e41 = now.norm.y;
    now.norm.y = _e41 + metal::dot(part_1, part_1);
    Sum _e44 = now;
    return _e44;
}

metal::bool4 within(
    Tile tile_1,
    uint k_1
) {
    return (metal::uint4(0u, 1u, 2u, 3u) + metal::uint4(k_1 * 4u)) < metal::uint4(tile_1.length);
}

metal::float4 param_at(
    Tile tile_2,
    uint k_2,
    device type_15 const& params,
    constant _mslBufferSizes& _buffer_sizes
) {
    metal::float4 _e6 = params[tile_2.param + k_2];
    return _e6;
}

metal::float4 magnitudes(
    metal::float4 values,
    metal::bool4 inside_1
) {
    metal::bool4 _e5 = finite(as_type<metal::uint4>(values));
    return metal::abs(metal::select(metal::float4(0.0), values, _e5 & inside_1));
}

void keep_param(
    Tile tile_3,
    uint k_3,
    metal::float4 p,
    device type_15& params,
    constant _mslBufferSizes& _buffer_sizes
) {
    params[tile_3.param + k_3] = p;
    return;
}

void set_copy(
    Tile tile_4,
    uint k_4,
    metal::float4 p_1
) {
    return;
}

void set_param(
    Tile tile_5,
    uint k_5,
    metal::float4 p_2,
    device type_15& params,
    constant _mslBufferSizes& _buffer_sizes
) {
    keep_param(tile_5, k_5, p_2, params, _buffer_sizes);
    set_copy(tile_5, k_5, p_2);
    return;
}

metal::uint4 grad_bits(
    Tile tile_6,
    uint k_6,
    device type_16 const& grads,
    constant _mslBufferSizes& _buffer_sizes
) {
    metal::uint4 _e6 = grads[tile_6.grad + k_6];
    return _e6;
}

metal::float4 grad_at(
    Tile tile_7,
    uint k_7,
    device type_16 const& grads,
    constant _mslBufferSizes& _buffer_sizes
) {
    metal::uint4 _e2 = grad_bits(tile_7, k_7, grads, _buffer_sizes);
    return as_type<metal::float4>(_e2);
}

struct rememberInput {
};
[[max_total_threads_per_threadgroup(256)]] kernel void remember(
  metal::uint3 group [[threadgroup_position_in_grid]]
, metal::uint3 grid [[threadgroups_per_grid]]
, uint lane [[thread_index_in_threadgroup]]
, device type_1 const& tiles [[user(fake0)]]
, device type_15& previous [[user(fake0)]]
, device type_15 const& params [[user(fake0)]]
, constant _mslBufferSizes& _buffer_sizes [[user(fake0)]]
) {
    Tile _e3 = tile_of(group, grid, tiles, _buffer_sizes);
    bool _e4 = inside(_e3, lane);
    if (!(_e4)) {
        return;
    }
    metal::float4 _e10 = param_at(_e3, lane, params, _buffer_sizes);
    previous[_e3.first + lane] = _e10;
    return;
}


struct block_movesInput {
};
[[max_total_threads_per_threadgroup(256)]] kernel void block_moves(
  metal::uint3 group_1 [[threadgroup_position_in_grid]]
, metal::uint3 grid_1 [[threadgroups_per_grid]]
, uint lane_1 [[thread_index_in_threadgroup]]
, device type_1 const& tiles [[user(fake0)]]
, threadgroup type_8& sums
, device type_15 const& previous [[user(fake0)]]
, device type_15& moves [[user(fake0)]]
, device type_15 const& params [[user(fake0)]]
, constant _mslBufferSizes& _buffer_sizes [[user(fake0)]]
) {
    if (lane_1 == 0u) {
        sums = {};
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    Sum update = Sum {metal::float2(0.0), 0.0, 1.0};
    Sum own = {};
    uint k = {};
    bool local = {};
    Tile _e3 = tile_of(group_1, grid_1, tiles, _buffer_sizes);
    Sum _e10 = update;
    own = _e10;
    k = lane_1;
    uint2 loop_bound_2 = uint2(4294967295u);
    bool loop_init_2 = true;
    while(true) {
        if (metal::all(loop_bound_2 == uint2(0u))) { break; }
        loop_bound_2 -= uint2(loop_bound_2.y == 0u, 1u);
        if (!loop_init_2) {
            uint _e37 = k;
            k = _e37 + WIDTH;
        }
        loop_init_2 = false;
        uint _e13 = k;
        if ((_e13 * 4u) < _e3.length) {
        } else {
            break;
        }
        {
            uint _e18 = k;
            metal::float4 _e19 = param_at(_e3, _e18, params, _buffer_sizes);
            Sum _e20 = update;
            uint _e23 = k;
            metal::float4 _e26 = previous[_e3.first + _e23];
            uint _e28 = k;
            metal::bool4 _e29 = within(_e3, _e28);
            metal::float4 _e30 = magnitudes(_e19 - _e26, _e29);
            Sum _e31 = add_squares(_e20, _e30);
            update = _e31;
            Sum _e32 = own;
            uint _e33 = k;
            metal::bool4 _e34 = within(_e3, _e33);
            metal::float4 _e35 = magnitudes(_e19, _e34);
            Sum _e36 = add_squares(_e32, _e35);
            own = _e36;
        }
    }
    float _e42 = update.norm.x;
    float _e45 = own.norm.x;
    metal::float2 _e47 = max_over_workgroup(lane_1, metal::float2(_e42, _e45), sums);
    metal::float2 _e49 = update.norm;
    float _e51 = rescaled(_e49, _e47.x);
    metal::float2 _e53 = own.norm;
    float _e55 = rescaled(_e53, _e47.y);
    metal::float2 _e57 = sum_over_workgroup(lane_1, metal::float2(_e51, _e55), sums);
    if (lane_1 == 0u) {
        local = _e3.length > 0u;
    } else {
        local = false;
    }
    bool _e66 = local;
    if (_e66) {
        moves[_e3.number] = metal::float4(_e47.x, _e57.x, _e47.y, _e57.y);
        return;
    } else {
        return;
    }
}

uint naga_mod(uint lhs, uint rhs) {
    return lhs % metal::select(rhs, 1u, rhs == 0u);
}


struct recordInput {
};
[[max_total_threads_per_threadgroup(256)]] kernel void record(
  metal::uint3 group_2 [[threadgroup_position_in_grid]]
, metal::uint3 grid_2 [[threadgroups_per_grid]]
, uint lane_2 [[thread_index_in_threadgroup]]
, threadgroup type_8& sums
, device type_11 const& spans [[user(fake0)]]
, device type_12 const& norms [[user(fake0)]]
, device type_13 const& standing [[user(fake0)]]
, device type_14 const& settings [[user(fake0)]]
, device type_15 const& moves [[user(fake0)]]
, device type_11& records [[user(fake0)]]
, constant _mslBufferSizes& _buffer_sizes [[user(fake0)]]
) {
    if (lane_2 == 0u) {
        sums = {};
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    metal::float2 top = metal::float2(0.0);
    uint i = {};
    metal::float2 sum = metal::float2(0.0);
    uint i_1 = {};
    uint i_2 = 0u;
    uint _e3 = unfold(group_2, grid_2);
    uint tensors = settings.inner[9];
    if (_e3 >= tensors) {
        return;
    }
    metal::uint2 span_2 = spans[_e3];
    i = lane_2;
    uint2 loop_bound_3 = uint2(4294967295u);
    bool loop_init_3 = true;
    while(true) {
        if (metal::all(loop_bound_3 == uint2(0u))) { break; }
        loop_bound_3 -= uint2(loop_bound_3.y == 0u, 1u);
        if (!loop_init_3) {
            uint _e27 = i;
            i = _e27 + WIDTH;
        }
        loop_init_3 = false;
        uint _e15 = i;
        if (_e15 < span_2.y) {
        } else {
            break;
        }
        {
            metal::float2 _e18 = top;
            uint _e21 = i;
            metal::float4 _e24 = moves[span_2.x + _e21];
            top = metal::max(_e18, _e24.xz);
        }
    }
    metal::float2 _e30 = top;
    metal::float2 _e31 = max_over_workgroup(lane_2, _e30, sums);
    top = _e31;
    i_1 = lane_2;
    uint2 loop_bound_4 = uint2(4294967295u);
    bool loop_init_4 = true;
    while(true) {
        if (metal::all(loop_bound_4 == uint2(0u))) { break; }
        loop_bound_4 -= uint2(loop_bound_4.y == 0u, 1u);
        if (!loop_init_4) {
            uint _e56 = i_1;
            i_1 = _e56 + WIDTH;
        }
        loop_init_4 = false;
        uint _e36 = i_1;
        if (_e36 < span_2.y) {
        } else {
            break;
        }
        {
            uint _e41 = i_1;
            metal::float4 found = moves[span_2.x + _e41];
            metal::float2 _e45 = sum;
            float _e48 = top.x;
            float _e49 = rescaled(found.xy, _e48);
            float _e52 = top.y;
            float _e53 = rescaled(found.zw, _e52);
            sum = _e45 + metal::float2(_e49, _e53);
        }
    }
    metal::float2 _e59 = sum;
    metal::float2 _e60 = sum_over_workgroup(lane_2, _e59, sums);
    sum = _e60;
    if (lane_2 > 0u) {
        return;
    }
    uint _e65 = standing.inner[1];
    uint _e68 = standing.inner[2];
    uint _e74 = settings.inner[13];
    uint slot = naga_mod((_e65 + _e68) - 1u, _e74);
    uint row = slot * (HEAD + (3u * tensors));
    uint at = (row + HEAD) + (3u * _e3);
    metal::float2 _e90 = norms[_e3];
    records[at] = as_type<metal::uint2>(_e90);
    float _e97 = top.x;
    float _e99 = sum.x;
    records[at + 1u] = as_type<metal::uint2>(metal::float2(_e97, _e99));
    float _e107 = top.y;
    float _e109 = sum.y;
    records[at + 2u] = as_type<metal::uint2>(metal::float2(_e107, _e109));
    if (_e3 == 0u) {
        uint2 loop_bound_5 = uint2(4294967295u);
        bool loop_init_5 = true;
        while(true) {
            if (metal::all(loop_bound_5 == uint2(0u))) { break; }
            loop_bound_5 -= uint2(loop_bound_5.y == 0u, 1u);
            if (!loop_init_5) {
                uint _e139 = i_2;
                i_2 = _e139 + 1u;
            }
            loop_init_5 = false;
            uint _e116 = i_2;
            if (_e116 < 4u) {
            } else {
                break;
            }
            {
                uint _e120 = i_2;
                uint _e125 = i_2;
                uint _e128 = standing.inner[2u * _e125];
                uint _e131 = i_2;
                uint _e136 = standing.inner[(2u * _e131) + 1u];
                records[row + _e120] = metal::uint2(_e128, _e136);
            }
        }
        uint _e147 = standing.inner[8];
        records[row + 4u] = metal::uint2(_e147, 0u);
        return;
    } else {
        return;
    }
}
