// language: metal2.4
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size0;
    uint size1;
    uint size2;
    uint size3;
    uint size4;
    uint size5;
    uint size6;
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
struct Pace {
    uint live;
    uint first;
    float factor;
    float unit;
    float limit;
    float lr;
    float correction;
    float root_scale;
};
struct Hyper {
    Pace pace;
    float alpha;
    float fresh;
    float eps;
    float weight_decay;
    float momentum;
    uint centered;
};
typedef Hyper type_6[1];
typedef metal::float4 type_7[1];
typedef metal::uint4 type_9[1];
constant uint WIDTH = 256u;

uint unfold(
    metal::uint3 group_4,
    metal::uint3 grid_4
) {
    return (group_4.y * grid_4.x) + group_4.x;
}

Tile tile_of(
    metal::uint3 group_5,
    metal::uint3 grid_5,
    device type_1 const& tiles,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e2 = unfold(group_5, grid_5);
    if (_e2 >= (1 + (_buffer_sizes.size0 - 0 - 28) / 28)) {
        return Tile {};
    }
    Tile _e9 = tiles[_e2];
    return _e9;
}

bool inside(
    Tile tile,
    uint lane_4
) {
    return (lane_4 * 4u) < tile.length;
}

metal::float4 paced(
    Pace pace,
    metal::float4 grad
) {
    metal::float4 g_2 = pace.factor * (pace.unit * grad);
    metal::bool4 over = metal::bool4(pace.limit > 0.0) & (metal::abs(g_2) > metal::float4(pace.limit));
    return metal::select(g_2, metal::sign(g_2) * pace.limit, over);
}

metal::uint4 grad_bits(
    Tile tile_1,
    uint k,
    device type_9 const& grads,
    constant _mslBufferSizes& _buffer_sizes
) {
    metal::uint4 _e6 = grads[tile_1.grad + k];
    return _e6;
}

metal::float4 grad_at(
    Tile tile_2,
    uint k_1,
    device type_9 const& grads,
    constant _mslBufferSizes& _buffer_sizes
) {
    metal::uint4 _e2 = grad_bits(tile_2, k_1, grads, _buffer_sizes);
    return as_type<metal::float4>(_e2);
}

metal::float4 gradient(
    Hyper h,
    Tile tile_3,
    uint lane_5,
    metal::float4 p,
    device type_9 const& grads,
    constant _mslBufferSizes& _buffer_sizes
) {
    metal::float4 _e5 = grad_at(tile_3, lane_5, grads, _buffer_sizes);
    metal::float4 _e6 = paced(h.pace, _e5);
    return _e6 + (h.weight_decay * p);
}

metal::float4 square(
    Hyper h_1,
    uint i,
    metal::float4 g,
    device type_7& square_avg,
    constant _mslBufferSizes& _buffer_sizes
) {
    metal::float4 _e6 = square_avg[i];
    metal::float4 s = (h_1.alpha * _e6) + (h_1.fresh * (g * g));
    square_avg[i] = s;
    return s;
}

metal::float4 variance(
    Hyper h_2,
    uint i_1,
    metal::float4 g_1,
    device type_7& square_avg,
    device type_7& grad_avg,
    constant _mslBufferSizes& _buffer_sizes
) {
    metal::float4 _e3 = square(h_2, i_1, g_1, square_avg, _buffer_sizes);
    if (h_2.centered == 0u) {
        return _e3;
    }
    metal::float4 _e10 = grad_avg[i_1];
    metal::float4 a = (h_2.alpha * _e10) + (h_2.fresh * g_1);
    grad_avg[i_1] = a;
    return metal::max(_e3 - (a * a), metal::float4(0.0));
}

metal::float4 speed(
    Hyper h_3,
    uint i_2,
    metal::float4 d,
    device type_7& momentum_buffer,
    constant _mslBufferSizes& _buffer_sizes
) {
    if (h_3.momentum == 0.0) {
        return d;
    }
    metal::float4 _e9 = momentum_buffer[i_2];
    metal::float4 buf = (h_3.momentum * _e9) + d;
    momentum_buffer[i_2] = buf;
    return buf;
}

metal::float4 param_at(
    Tile tile_4,
    uint k_2,
    device type_7 const& params,
    constant _mslBufferSizes& _buffer_sizes
) {
    metal::float4 _e6 = params[tile_4.param + k_2];
    return _e6;
}

void keep_param(
    Tile tile_5,
    uint k_3,
    metal::float4 p_1,
    device type_7& params,
    constant _mslBufferSizes& _buffer_sizes
) {
    params[tile_5.param + k_3] = p_1;
    return;
}

void set_copy(
    Tile tile_6,
    uint k_4,
    metal::float4 p_2
) {
    return;
}

void set_param(
    Tile tile_7,
    uint k_5,
    metal::float4 p_3,
    device type_7& params,
    constant _mslBufferSizes& _buffer_sizes
) {
    keep_param(tile_7, k_5, p_3, params, _buffer_sizes);
    set_copy(tile_7, k_5, p_3);
    return;
}

struct plainInput {
};
[[max_total_threads_per_threadgroup(256)]] kernel void plain(
  metal::uint3 group [[threadgroup_position_in_grid]]
, metal::uint3 grid [[threadgroups_per_grid]]
, uint lane [[thread_index_in_threadgroup]]
, device type_1 const& tiles [[user(fake0)]]
, device type_6 const& hypers [[user(fake0)]]
, device type_7& square_avg [[user(fake0)]]
, device type_9 const& grads [[user(fake0)]]
, device type_7& params [[user(fake0)]]
, constant _mslBufferSizes& _buffer_sizes [[user(fake0)]]
) {
    bool local = {};
    Tile _e3 = tile_of(group, grid, tiles, _buffer_sizes);
    Hyper h_4 = hypers[_e3.segment];
    if (!((h_4.pace.live == 0u))) {
        bool _e15 = inside(_e3, lane);
        local = !(_e15);
    } else {
        local = true;
    }
    bool _e18 = local;
    if (_e18) {
        return;
    }
    uint i_3 = _e3.first + lane;
    metal::float4 _e21 = param_at(_e3, lane, params, _buffer_sizes);
    metal::float4 _e22 = gradient(h_4, _e3, lane, _e21, grads, _buffer_sizes);
    metal::float4 _e25 = square(h_4, i_3, _e22, square_avg, _buffer_sizes);
    set_param(_e3, lane, _e21 - (h_4.pace.lr * (_e22 / (metal::sqrt(_e25) + metal::float4(h_4.eps)))), params, _buffer_sizes);
    return;
}


struct centeredInput {
};
[[max_total_threads_per_threadgroup(256)]] kernel void centered(
  metal::uint3 group_1 [[threadgroup_position_in_grid]]
, metal::uint3 grid_1 [[threadgroups_per_grid]]
, uint lane_1 [[thread_index_in_threadgroup]]
, device type_1 const& tiles [[user(fake0)]]
, device type_6 const& hypers [[user(fake0)]]
, device type_7& square_avg [[user(fake0)]]
, device type_7& grad_avg [[user(fake0)]]
, device type_9 const& grads [[user(fake0)]]
, device type_7& params [[user(fake0)]]
, constant _mslBufferSizes& _buffer_sizes [[user(fake0)]]
) {
    bool local_1 = {};
    Tile _e3 = tile_of(group_1, grid_1, tiles, _buffer_sizes);
    Hyper h_5 = hypers[_e3.segment];
    if (!((h_5.pace.live == 0u))) {
        bool _e15 = inside(_e3, lane_1);
        local_1 = !(_e15);
    } else {
        local_1 = true;
    }
    bool _e18 = local_1;
    if (_e18) {
        return;
    }
    uint i_4 = _e3.first + lane_1;
    metal::float4 _e21 = param_at(_e3, lane_1, params, _buffer_sizes);
    metal::float4 _e22 = gradient(h_5, _e3, lane_1, _e21, grads, _buffer_sizes);
    metal::float4 _e25 = variance(h_5, i_4, _e22, square_avg, grad_avg, _buffer_sizes);
    set_param(_e3, lane_1, _e21 - (h_5.pace.lr * (_e22 / (metal::sqrt(_e25) + metal::float4(h_5.eps)))), params, _buffer_sizes);
    return;
}


struct momentumInput {
};
[[max_total_threads_per_threadgroup(256)]] kernel void momentum(
  metal::uint3 group_2 [[threadgroup_position_in_grid]]
, metal::uint3 grid_2 [[threadgroups_per_grid]]
, uint lane_2 [[thread_index_in_threadgroup]]
, device type_1 const& tiles [[user(fake0)]]
, device type_6 const& hypers [[user(fake0)]]
, device type_7& square_avg [[user(fake0)]]
, device type_7& momentum_buffer [[user(fake0)]]
, device type_9 const& grads [[user(fake0)]]
, device type_7& params [[user(fake0)]]
, constant _mslBufferSizes& _buffer_sizes [[user(fake0)]]
) {
    bool local_2 = {};
    Tile _e3 = tile_of(group_2, grid_2, tiles, _buffer_sizes);
    Hyper h_6 = hypers[_e3.segment];
    if (!((h_6.pace.live == 0u))) {
        bool _e15 = inside(_e3, lane_2);
        local_2 = !(_e15);
    } else {
        local_2 = true;
    }
    bool _e18 = local_2;
    if (_e18) {
        return;
    }
    uint i_5 = _e3.first + lane_2;
    metal::float4 _e21 = param_at(_e3, lane_2, params, _buffer_sizes);
    metal::float4 _e22 = gradient(h_6, _e3, lane_2, _e21, grads, _buffer_sizes);
    metal::float4 _e25 = square(h_6, i_5, _e22, square_avg, _buffer_sizes);
    metal::float4 _e31 = speed(h_6, i_5, _e22 / (metal::sqrt(_e25) + metal::float4(h_6.eps)), momentum_buffer, _buffer_sizes);
    set_param(_e3, lane_2, _e21 - (h_6.pace.lr * _e31), params, _buffer_sizes);
    return;
}


struct centered_momentumInput {
};
[[max_total_threads_per_threadgroup(256)]] kernel void centered_momentum(
  metal::uint3 group_3 [[threadgroup_position_in_grid]]
, metal::uint3 grid_3 [[threadgroups_per_grid]]
, uint lane_3 [[thread_index_in_threadgroup]]
, device type_1 const& tiles [[user(fake0)]]
, device type_6 const& hypers [[user(fake0)]]
, device type_7& square_avg [[user(fake0)]]
, device type_7& grad_avg [[user(fake0)]]
, device type_7& momentum_buffer [[user(fake0)]]
, device type_9 const& grads [[user(fake0)]]
, device type_7& params [[user(fake0)]]
, constant _mslBufferSizes& _buffer_sizes [[user(fake0)]]
) {
    bool local_3 = {};
    Tile _e3 = tile_of(group_3, grid_3, tiles, _buffer_sizes);
    Hyper h_7 = hypers[_e3.segment];
    if (!((h_7.pace.live == 0u))) {
        bool _e15 = inside(_e3, lane_3);
        local_3 = !(_e15);
    } else {
        local_3 = true;
    }
    bool _e18 = local_3;
    if (_e18) {
        return;
    }
    uint i_6 = _e3.first + lane_3;
    metal::float4 _e21 = param_at(_e3, lane_3, params, _buffer_sizes);
    metal::float4 _e22 = gradient(h_7, _e3, lane_3, _e21, grads, _buffer_sizes);
    metal::float4 _e25 = variance(h_7, i_6, _e22, square_avg, grad_avg, _buffer_sizes);
    metal::float4 _e31 = speed(h_7, i_6, _e22 / (metal::sqrt(_e25) + metal::float4(h_7.eps)), momentum_buffer, _buffer_sizes);
    set_param(_e3, lane_3, _e21 - (h_7.pace.lr * _e31), params, _buffer_sizes);
    return;
}
